import Conformance
import Foundation

/// Judges a responder from outside: `discoverd-conformance --help`.
@main
enum Main {
    private static let usage = """
        Usage: discoverd-conformance --interface NAME [--rule N]... [--json] -- DRIVER [ARGUMENT]...
               discoverd-conformance --list [--json]
               discoverd-conformance --markdown REPORT...

        Judges a responder of multicast DNS by packets of its own, rule by rule. It plays hosts on the link of an interface, for which it
        needs CAP_NET_RAW; on the other side DRIVER starts, alters and ends what is judged (Conformance/drivers). `make conformance` does
        it in namespaces.

          --interface NAME  the interface whose link both are on; once more: a second link, for rules of several
          --rule N          this rule alone; repeatable
          --except N        not this rule; repeatable
          --queriers        rules of programs that look for services, in place of those that publish
          --json            a report as one JSON object
          --list            the rules, and end
          --markdown        docs/conformance.md, of reports that --json has written, and end

        Exit status: 0 every rule that was judged is kept, 1 some are broken, 64 wrong usage, 71 the link or the driver failed.
        """

    static func main() {
        var (arguments, interfaces, rules, except): (ArraySlice<String>, [String], Set<Int>, Set<Int>) = (
            CommandLine.arguments.dropFirst(), [], [], []
        )
        var (json, list, markdown, rest): (Bool, Bool, Bool, [String]) = (false, false, false, [])
        var catalogue = Rule.all
        while let argument = arguments.popFirst() {
            switch argument {
            case "--help", "-h":
                print(usage)
                exit(0)
            case "--interface": interfaces += arguments.popFirst().map { [$0] } ?? []
            case "--rule", "--except":
                guard let number = arguments.popFirst().flatMap({ Int($0) }),
                    (Rule.all + Rule.queriers).contains(where: { $0.number == number })
                else {
                    end(64, "\(argument) needs the number of a rule")
                }
                if argument == "--rule" { rules.insert(number) } else { except.insert(number) }
            case "--queriers": catalogue = Rule.queriers
            case "--json": json = true
            case "--list": list = true
            case "--markdown": markdown = true
            case "--":
                rest += arguments
                arguments = []
            case _ where argument.hasPrefix("-"): end(64, "unknown option \(argument)")
            default: rest.append(argument)
            }
        }
        if !rules.isDisjoint(with: Rule.queriers.map(\.number)) { catalogue = Rule.queriers }
        let chosen = catalogue.filter { (rules.isEmpty || rules.contains($0.number)) && !except.contains($0.number) }
        if list { return print(Catalogue.text(chosen, json: json)) }
        do {
            if markdown { return print(try Catalogue.markdown(rest), terminator: "") }
            guard 1...8 ~= interfaces.count, !rest.isEmpty else { end(64, usage) }
            try judge(chosen, on: interfaces, rest, json: json)
        } catch {
            end(71, "\(error)")
        }
    }

    private static func judge(_ rules: [Rule], on interfaces: [String], _ command: [String], json: Bool) throws {
        let medium = try PacketSocket(on: interfaces)
        let driver = try DriverProcess(command)
        let bench = Bench(medium, driver)
        var report = Report(driver, date: String(Date.now.ISO8601Format().prefix(10)))
        for rule in rules {
            let line = Report.Line(rule, try bench.judge(rule))
            report.rules.append(line)
            say(Report.row(line))
        }
        try bench.stop()
        driver.close()
        say(report.summary)
        if json { print(report.json) }
        exit(report.broken.isEmpty ? 0 : 1)
    }

    private static func say(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }

    private static func end(_ status: Int32, _ text: String) -> Never {
        say(status == 64 && text == usage ? text : "discoverd-conformance: \(text)")
        exit(status)
    }
}

#if Commands
import AvahiEngine
import ArgumentParser
import CommandFrame
import DNSSD
import DiscoverySystem
import HostEngine
import Testing

@testable import DiscoverdCommands

/// Which program runs a command, whether it asks the daemon and DNS servers, and for how long it waits: the table.
@Suite struct InvocationTests {
    /// A machine with both programs, one without `discoverd-daemon`, and `discoverd-daemon` itself.
    enum On { case discoverd, bare, dns }

    private static func command(_ line: String) throws -> any NetworkCommand {
        let arguments = CommandWords(line.words).arguments
        return try #require(DiscoverdCommand.parseDirectly(arguments) as? any NetworkCommand, "\(line)")
    }

    private static func invocation(of command: any NetworkCommand, on place: On) throws -> Invocation {
        let machine = Invocation.Machine(hasMore: place == .dns, isMoreInstalled: place != .bare)
        return try Invocation(command.needs(), command.common, on: machine)
    }

    private static func invocation(_ line: String, on place: On = .discoverd) throws -> Invocation {
        try invocation(of: command(line), on: place)
    }

    typealias Program = Invocation.Program
    typealias Use = CommandNeeds.DaemonUse

    private static let servers = "asks DNS servers about a.example"
    private static let asked = "this command asks it"

    static let rows: [(line: String, Program, Use, Invocation.Servers)] = [
        ("browse http -t", .this, .ifPresent, .never),
        ("browse http --no-daemon", .this, .never, .never),
        ("browse http --finder wire", .this, .never, .never),
        ("publish a 1 --backend private", .this, .never, .never),
        ("browse http --socket /s", .this, .required("--socket names it"), .never),
        ("browse http --domain a.example", .moreUnlessServed(servers), .ifPresent, .unlessServed),
        ("browse http --domain local --domain a.example", .moreUnlessServed(servers), .ifPresent, .unlessServed),
        (
            "browse http --domain a.example --socket /s", .moreUnlessServed(servers), .required("--socket names it"),
            .unlessServed
        ),
        ("browse http --domain a.example --no-daemon", .more(servers), .never, .always),
        ("browse http --domain a.example --server 10.0.0.1", .more(servers), .ifPresent, .always),
        ("publish a 1 --domain a.example --key /k", .more(servers), .ifPresent, .always),
        ("publish a 1 --domain a.example --detach", .this, .required("--detach hands the service to it"), .never),
        ("publish a 1 --check tcp", .this, .required("--check is done by it"), .never),
        ("domains", .moreIfPossible, .ifPresent, .always),
        ("domains --domain a.example", .moreUnlessServed(servers), .ifPresent, .unlessServed),
        ("browse --domains", .moreIfPossible, .ifPresent, .always),
        ("browse --types", .this, .ifPresent, .never),
        ("types -f", .this, .ifPresent, .never),
        ("query x.a.example A", .more("asks DNS servers about x.a.example"), .never, .never),
        ("query x.local A", .this, .never, .never),
        // No domains, and asked about all the same.
        ("query . NS", .more("asks DNS servers"), .never, .never),
        (#"query a\200.example A"#, .more("asks DNS servers"), .never, .never),
        ("host x.local", .this, .never, .never),
        ("resolve x.local 10.0.0.1", .this, .never, .never),
        ("resolve --host x.a.example", .more("asks DNS servers about x.a.example"), .never, .never),
        ("resolve x.a.example", .this, .ifPresent, .never),
        ("resolve x.local --socket /s", .this, .never, .never),
        // What a daemon serves, it does not check.
        ("doctor --domain a.example", .more(servers), .never, .never),
        ("explain tony", .this, .never, .never),
        ("doctor tony", .this, .never, .never),
        ("doctor tony --socket /s --backend private", .this, .never, .never),
        ("listen a --tls", .more("speaks TLS"), .ifPresent, .never),
        ("connect a --tls", .more("speaks TLS"), .ifPresent, .never),
        ("pair", .more("speaks TLS"), .ifPresent, .never),
        ("key pair h1", .more("speaks TLS"), .ifPresent, .never),
        ("show", .more("serves the page"), .ifPresent, .never),
        ("status", .this, .required(asked), .never),
        ("reload", .this, .required(asked), .never),
        ("ls", .this, .wanted, .never),
        ("status --services --watch", .this, .wanted, .never),
    ]

    @Test(arguments: rows)
    func table(_ row: (line: String, Program, Use, Invocation.Servers)) throws {
        let command = try Self.command(row.line)
        let invocation = try Self.invocation(of: command, on: .discoverd)
        #expect(invocation.program == row.1)
        #expect(invocation.daemon == row.2)
        #expect(invocation.servers == row.3)
        // The other program never becomes another, and decides all else the same.
        let more = try Self.invocation(of: command, on: .dns)
        #expect(more.program == .this)
        #expect(more.daemon == row.2 && more.servers == row.3)
    }

    @Test func withoutTheOtherProgramWhatIsOptionalIsLeftOut() throws {
        #expect(try Self.invocation("domains", on: .bare).program == .this)
        #expect(
            try Self.invocation("browse http --domain a.example --no-daemon", on: .bare).program == .more(Self.servers))
    }

    @Test func whatOnlyTheDaemonDoesIsNotDoneWithoutIt() {
        let error = #expect(throws: CommandError.self) { try Self.invocation("publish a 1 --detach --no-daemon") }
        #expect(error?.status == .usage)
        #expect(error?.message == "no daemon is to be asked, but --detach hands the service to it")
    }

    @Test func engines() throws {
        #expect(try Self.invocation("browse http").finder == .auto)
        #expect(try Self.invocation("browse http --finder avahi").finder == .avahi)
        #expect(try Self.invocation("publish a 1").avahi == .auto)
        #expect(try Self.invocation("publish a 1 --avahi always").avahi == .always)
        #expect(try Self.invocation("publish a 1 --avahi never").avahi == .never)
        // Its name in the version before.
        #expect(try Self.invocation("publish a 1 --backend private").avahi == .never)
        // doctor reports the machine as it is.
        #expect(try Self.invocation("doctor").avahi == .always)
        #expect(try Self.invocation("doctor").finder == .avahi)
        // What asks the links for a name needs nothing else.
        #expect(try Self.invocation("doctor tony --avahi never").avahi == .always)
        #expect(try Self.invocation("resolve x.local --avahi never").avahi == .always)
    }

    @Test func patience() throws {
        #expect(try Self.invocation("browse http").patience == .system)
        #expect(try Self.invocation("browse http --domain a.example").patience == .servers)
        #expect(try Self.invocation("browse http --domain a.example --domain local").patience == .system)
    }
}
#endif

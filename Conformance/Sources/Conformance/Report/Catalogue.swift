import Foundation

/// The rules as a list, and docs/conformance.md.
package enum Catalogue {
    private struct Entry: Encodable {
        var rule: Int
        var level: Rule.Level
        var section: String
        var title: String
        var harm: String
    }

    package static func text(_ rules: [Rule], json: Bool) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return rules.map { rule in
            guard json else { return "\(rule.number)\t\(rule.level.rawValue)\t\(rule.section)\t\(rule.title)" }
            let entry = Entry(
                rule: rule.number, level: rule.level, section: rule.section, title: rule.title, harm: rule.harm)
            return (try? encoder.encode(entry)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }.joined(separator: "\n")
    }

    /// The document, of reports that were measured.
    package static func markdown(_ files: [String]) throws -> String {
        let all = try files.map {
            try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: $0)))
        }
        let (queriers, responders) = (all.filter(\.isOfQuerier), all.filter { !$0.isOfQuerier })
        var lines = [Self.preface, "## Programs that publish", ""]
        lines += table(of: responders, Rule.all, missing: "mdnsd (Apple)")
        lines += ["## What a deviation means", ""] + deviations(of: responders, Rule.all)
        if !queriers.isEmpty {
            lines += ["", "## Programs that look for services", ""]
            lines += table(of: queriers, Rule.queriers, missing: "mdnsd (Apple)")
            lines += ["## What a deviation of these means", ""] + deviations(of: queriers, Rule.queriers)
        }
        return (lines + ["", Self.rest, ""]).joined(separator: "\n")
    }

    private static func table(of reports: [Report], _ rules: [Rule], missing: String) -> [String] {
        var lines = ["| | version | measured | rules kept | broken, of these MUST |", "|---|---|---|---|---|"]
        lines += reports.map { report in
            let must = report.broken.count { $0.level == .must }
            return
                "| \(report.implementation) | \(report.version) | \(report.date) | \(report.kept) of \(report.judged) "
                + "| \(report.broken.count), \(must) |"
        }
        lines += ["| \(missing) | | not measured here | | |", ""]
        let names = reports.map(\.implementation) + [missing]
        lines.append("| | | RFC 6762 | rule | \(names.joined(separator: " | ")) |")
        lines.append("|---|---|---|---|" + names.map { _ in "---|" }.joined())
        lines += rules.map { rule in
            let marks = reports.map { report in report.rules.first { $0.rule == rule.number }?.mark ?? "-" } + ["-"]
            return
                "| \(rule.number) | \(rule.level.rawValue) | \(rule.section) | \(rule.title) | \(marks.joined(separator: " | ")) |"
        }
        return lines + [""]
    }

    private static func deviations(of reports: [Report], _ rules: [Rule]) -> [String] {
        rules.compactMap { rule in
            let seen = reports.compactMap { report in
                report.broken.first { $0.rule == rule.number }.map {
                    "\(report.implementation): \(escaped($0.seen ?? ""))"
                }
            }
            return seen.isEmpty
                ? nil : "- **\(rule.number)** \(rule.title). \(rule.harm). Seen: \(seen.joined(separator: "; "))."
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("|", with: "\\|").replacing("`", with: "'").replacing(
            "*", with: "\\*"
        ).replacing("_", with: "\\_")
    }

    private static let preface = """
        # Conformance

        What programs that speak multicast DNS keep of RFC 6762 and RFC 6763, judged from outside by their packets. A program writes this
        file, of what it has measured: `make conformance` measures, `make conformance-document` writes
        ([decision 0084](decisions/0084-judged-from-outside.md)).

        MUST and SHOULD are the RFC's words. EXPERIENCE is what goes wrong on real networks. `+` is kept, `x` broken, `·` not judged, as there
        is no way to have that program do it, and `-` not measured.

        avahi-daemon is judged with avahi-publish and avahi-browse, python-zeroconf with programs of a few lines, systemd-resolved with files in
        /run/systemd/dnssd. discoverd is judged with its own responder. Rule 100 it breaks on purpose: each of its processes is a responder
        ([decision 0081](decisions/0081-a-responder-of-our-own.md)), and the kernel gives a packet for the host to one socket.

        """

    private static let rest = """
        ## What cannot be judged from outside

        - Whether the first probe waits for a random 0 to 250 ms (8.1): when a program begins is not on the link.
        - That no answer comes from a cache (6).
        - That a name chosen after a conflict is remembered (9).
        - That a record is updated ten times a minute at most (8.4): it takes a program that updates oftener.
        - What is told to the user after a minute without a name (9).
        - Sleep and wake (8): here a link goes and comes.
        """
}

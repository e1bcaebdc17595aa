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
        let reports = try files.map {
            try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: $0)))
        }
        var lines = [Self.preface, "## Implementations", ""]
        lines += ["| | version | measured | kept | broken, of these MUST |", "|---|---|---|---|---|"]
        lines += reports.map { report in
            "| \(report.implementation) | \(report.version) | \(report.date) | \(report.kept) of \(report.judged) | \(report.broken.count), \(report.broken.count { $0.level == .must }) |"
        }
        lines += ["| mdnsd (Apple) | | not measured here | | |", "", "## Rules", ""]
        lines += ["`+` kept, `x` broken, `·` not judged there, `-` not measured.", ""]
        let names = reports.map(\.implementation) + ["mdnsd"]
        lines += [
            "| | | RFC 6762 | rule | \(names.joined(separator: " | ")) |",
            "|---|---|---|---|" + names.map { _ in "---|" }.joined(),
        ]
        for rule in Rule.all {
            let marks = reports.map { report in report.rules.first { $0.rule == rule.number }?.mark ?? "-" } + ["-"]
            lines.append(
                "| \(rule.number) | \(rule.level.rawValue) | \(rule.section) | \(rule.title) | \(marks.joined(separator: " | ")) |"
            )
        }
        lines += ["", "## What a deviation means", ""]
        for rule in Rule.all {
            let seen = reports.compactMap { report in
                report.broken.first { $0.rule == rule.number }.map {
                    "\(report.implementation): \(escaped($0.seen ?? ""))"
                }
            }
            if !seen.isEmpty {
                lines.append("- **\(rule.number)** \(rule.title). \(rule.harm). Seen: \(seen.joined(separator: "; ")).")
            }
        }
        return (lines + ["", Self.rest, ""]).joined(separator: "\n")
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("|", with: "\\|").replacing("`", with: "'").replacing(
            "*", with: "\\*"
        ).replacing("_", with: "\\_")
    }

    private static let preface = """
        # Conformance

        What responders of multicast DNS keep of RFC 6762 and RFC 6763, judged from outside by packets. The program writes this file, of
        reports that it has measured: `make conformance` measures, `discoverd-conformance --markdown REPORT…` writes. MUST and SHOULD are the RFC's words,
        EXPERIENCE is what goes wrong on real networks.

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

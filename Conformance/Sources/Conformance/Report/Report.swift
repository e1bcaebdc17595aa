import Foundation

/// What a run has found of one implementation. A value; as JSON one object.
package struct Report: Codable, Sendable {
    package struct Line: Codable, Sendable {
        package var rule: Int
        package var level: Rule.Level
        package var section: String
        package var title: String
        /// `kept`, `broken` or `not judged`.
        package var verdict: String
        /// What was seen, or why it was not judged.
        package var seen: String?

        package init(_ rule: Rule, _ verdict: Verdict) {
            (self.rule, level, section, title) = (rule.number, rule.level, rule.section, rule.title)
            switch verdict {
            case .kept: self.verdict = "kept"
            case .broken(let seen): (self.verdict, self.seen) = ("broken", seen)
            case .notJudged(let reason): (self.verdict, self.seen) = ("not judged", reason)
            }
        }

        var mark: String { verdict == "kept" ? "+" : verdict == "broken" ? "x" : "·" }
    }

    package var implementation: String
    package var version: String
    package var date: String
    package var rules: [Line] = []

    package init(_ implementation: any Implementation, date: String) {
        (self.implementation, version, self.date) = (implementation.name, implementation.version, date)
    }

    package var kept: Int { rules.count { $0.verdict == "kept" } }
    package var broken: [Line] { rules.filter { $0.verdict == "broken" } }
    package var isOfQuerier: Bool { rules.contains { $0.rule > 100 } }
    package var judged: Int { rules.count { $0.verdict != "not judged" } }

    /// One object a line.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    package var summary: String {
        let must = broken.count { $0.level == .must }
        return
            "\(implementation) \(version): \(kept) of \(judged) rules kept, \(broken.count) broken (\(must) MUST), \(rules.count - judged) not judged"
    }

    /// A line of the table for people.
    package static func row(_ line: Line) -> String {
        let level = line.level.rawValue.padding(toLength: 10, withPad: " ", startingAt: 0)
        let number = String(repeating: " ", count: max(0, 3 - "\(line.rule)".count)) + "\(line.rule)"
        return "\(line.mark) \(number) \(level) \(line.title) (\(line.section))"
            + (line.seen.map { "\n      \($0)" } ?? "")
    }
}

/// One rule: where it is written, and how it is judged. A value.
package struct Rule: Sendable {
    /// How strong it is.
    package enum Level: String, Sendable, Codable {
        case must = "MUST"
        case should = "SHOULD"
        /// Of no RFC, but of what goes wrong on real networks.
        case experience = "EXPERIENCE"
    }

    package let number: Int
    package let level: Level
    /// The section of RFC 6762, unless it names another one.
    package let section: String
    package let title: String
    /// What users see where it is broken.
    package let harm: String
    /// Ends where the rule holds; throws `Bench.Deviation` or `Bench.Unjudged`.
    package let judge: @Sendable (Bench) throws -> Void

    init(
        _ number: Int, _ level: Level, _ section: String, _ title: String, _ harm: String,
        _ judge: @escaping @Sendable (Bench) throws -> Void
    ) {
        (self.number, self.level, self.section) = (number, level, section)
        (self.title, self.harm, self.judge) = (title, harm, judge)
    }

    /// All rules, in order.
    package static let all: [Rule] =
        (packets + probing + conflicts + announcing + answering + unicast + knownAnswers + defending + ending + company)
        .sorted { $0.number < $1.number }
}

/// What became of a rule with an implementation.
package enum Verdict: Hashable, Sendable {
    case kept
    case broken(String)
    case notJudged(String)
}

extension Bench {
    /// Judges one rule.
    package func judge(_ rule: Rule) throws -> Verdict {
        do {
            try rule.judge(self)
            return .kept
        } catch let deviation as Deviation {
            return .broken(deviation.seen)
        } catch let unjudged as Unjudged {
            return .notJudged(unjudged.reason)
        }
    }
}

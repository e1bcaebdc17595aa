/// How many questions one query may ask. Whoever fills a zone decides how many names it has, and for how short a time an
/// answer holds; not how often it is asked. A value.
struct QuestionBudget: Sendable {
    /// The most questions at once: enough for the longest list that DNS can carry (docs/beyond-link.md).
    static let most = 10_000.0
    /// The questions of each second after that.
    static let perSecond = 100.0

    private var left = Self.most
    private var refilledAt = Duration.zero

    /// Whether no question may be asked now.
    var isSpent: Bool { left < 1 }

    /// When the next question may be asked, if it is spent.
    var next: Duration { refilledAt + .seconds((1 - left) / Self.perSecond) + .milliseconds(1) }

    mutating func refill(at now: Duration) {
        guard now > refilledAt else { return }
        left = min(Self.most, left + (now - refilledAt) / .seconds(1) * Self.perSecond)
        refilledAt = now
    }

    mutating func spend() { left -= 1 }

    /// The shortest time between two askings of the same among as many questions: half of the budget is for what is new.
    static func pace(of count: Int) -> Duration { .seconds(Double(count) / (Self.perSecond / 2)) }
}

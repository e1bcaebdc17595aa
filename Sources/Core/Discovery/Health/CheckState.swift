/// Derives a service's health from a series of check results. Damps flapping: a service that fails again and again must
/// pass for longer and longer before it is advertised. A failure is never delayed.
public struct CheckState: Hashable, Sendable {
    /// The first hold-down, which each failure in a row of them doubles.
    public static let firstHold: Duration = .seconds(10)
    /// The longest hold-down.
    public static let longestHold: Duration = .seconds(300)
    /// A service that passes for this long has a clean record again.
    public static let forgetting: Duration = .seconds(600)

    /// The health that was last returned.
    public private(set) var health: Health = .unknown
    /// How many times it went from passing to failing with less than `forgetting` between.
    public private(set) var flaps = 0
    /// It does not pass before this time; nil when it is not held down.
    public private(set) var heldUntil: Duration?

    private let rise: Int
    private let fall: Int
    private var row = 0
    private var passingSince: Duration?

    /// Creates the state before the first check: the first result decides.
    public init(rise: Int, fall: Int) {
        self.rise = rise
        self.fall = fall
    }

    /// Takes a result.
    /// - Returns: the health when it became another.
    public mutating func checked(_ result: CheckResult, at now: Duration) -> Health? {
        switch result {
        case .passed: passed(at: now)
        case .failed(let reason): failed(reason, at: now)
        }
    }

    private mutating func passed(at now: Duration) -> Health? {
        switch health {
        case .passing:
            row = 0
            if let since = passingSince, now - since >= Self.forgetting { flaps = 0 }
            return nil
        case .unknown: return pass(at: now)
        case .failing:
            row += 1
            guard row >= rise else { return nil }
            guard let heldUntil, now < heldUntil else { return pass(at: now) }
            let wait = max(1, (heldUntil - now).components.seconds)
            guard row == rise else { return nil }
            return turn(.failing(reason: "works again, but failed \(flaps) times lately: held back for \(wait) s"))
        }
    }

    private mutating func failed(_ reason: String, at now: Duration) -> Health? {
        switch health {
        case .unknown:
            return turn(.failing(reason: reason))
        case .failing:
            // What fails now is of interest, not what failed first.
            row = 0
            return turn(.failing(reason: reason))
        case .passing:
            row += 1
            guard row >= fall else { return nil }
            row = 0
            if let since = passingSince, now - since >= Self.forgetting { flaps = 0 }
            flaps += 1
            passingSince = nil
            // The first failure is no flapping: only the second is held down.
            heldUntil = flaps > 1 ? now + Self.hold(after: flaps - 1) : nil
            return turn(.failing(reason: reason))
        }
    }

    private mutating func pass(at now: Duration) -> Health? {
        row = 0
        heldUntil = nil
        passingSince = now
        return turn(.passing)
    }

    private mutating func turn(_ new: Health) -> Health? {
        guard new != health else { return nil }
        health = new
        return new
    }

    private static func hold(after flaps: Int) -> Duration {
        min(longestHold, firstHold * (1 << min(flaps - 1, 10)))
    }
}

/// Whether a service works, according to its checks.
public enum Health: Hashable, Sendable {
    /// Nothing was looked at yet.
    case unknown
    /// It works.
    case passing
    /// It does not work, or not steadily; the reason is safe for a terminal.
    case failing(reason: String)
}

/// What one check found.
public enum CheckResult: Hashable, Sendable {
    /// It works.
    case passed
    /// It does not; the reason is safe for a terminal.
    case failed(reason: String)
}

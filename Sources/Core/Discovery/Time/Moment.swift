/// A time in eight bytes, to the nanosecond. `Duration` takes sixteen, and thousands of records and services hold several.
package struct Moment: BitwiseCopyable, Comparable, Sendable {
    /// Before every other.
    package static let never = Moment(nanoseconds: .min)

    private let nanoseconds: Int64

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Clamped to centuries on either side.
    package init(_ time: Duration) {
        let (seconds, attoseconds) = min(max(time, .seconds(-1 << 33)), .seconds(1 << 33)).components
        nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// `never` for nil.
    package init(_ time: Duration?) { self = time.map { Moment($0) } ?? .never }

    /// Nil for `never`.
    package var orNil: Duration? { self == .never ? nil : time }

    package var time: Duration { .nanoseconds(nanoseconds) }

    package static func < (one: Moment, other: Moment) -> Bool { one.nanoseconds < other.nanoseconds }
}

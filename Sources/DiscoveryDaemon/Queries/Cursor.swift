/// The position of a `watch` reader: daemon run, query, last change, and where its catching up began.
package struct Cursor: Hashable, Sendable, CustomStringConvertible {
    /// Differs for each run of the daemon.
    package let epoch: UInt32
    /// Which query.
    package let feed: UInt64
    /// The number of the change.
    package let number: UInt64
    /// Up to where it has seen everything.
    package let base: UInt64

    package init(epoch: UInt32, feed: UInt64, number: UInt64, base: UInt64) {
        self.base = base
        self.epoch = epoch
        self.feed = feed
        self.number = number
    }

    /// Reads what `description` wrote; nil for everything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, let epoch = UInt32(parts[0], radix: 16), let feed = UInt64(parts[1]),
            let number = UInt64(parts[2]), let base = UInt64(parts[3]), base <= number
        else { return nil }
        self.init(epoch: epoch, feed: feed, number: number, base: base)
    }

    package var description: String { "\(String(epoch, radix: 16))-\(feed)-\(number)-\(base)" }
}

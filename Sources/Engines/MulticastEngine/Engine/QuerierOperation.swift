import DNSSD

/// The events that the engine passes to each operation. Used only on the loop's thread.
protocol QuerierOperation: AnyObject {
    /// The links it asks.
    var wish: LinkWish { get }
    /// When to call `advance`; nil for never.
    var deadline: Duration? { get }

    /// Starts. Nothing has been reported yet.
    func begin(at now: Duration)
    func linkCame(_ link: Link, at now: Duration)
    func linkWent(_ link: Link, at now: Duration)
    /// All present links have been added.
    func linksAreKnown(at now: Duration)
    func changed(_ changes: [RecordCache.Change], on link: Link, at now: Duration)
    /// Questions were sent there.
    func asked(on link: Link, at now: Duration)
    /// Packets were lost there.
    func lost(on link: Link)
    /// Packets wait to be looked at.
    func isBehind(at now: Duration)
    /// The thread was late by this time.
    func wasLate(by delay: Duration)
    func degraded(_ text: String)
    func advance(to now: Duration)
    /// How many services it keeps on each link, or would keep if it could.
    var wanted: [Int] { get }
    /// Keeps no more on a link from now on.
    func keep(atMost limit: Int, at now: Duration)
    /// Reports everything collected.
    func flush()
    /// Ends: asks on no link any more, and reports nothing.
    func end()
}

extension QuerierOperation {
    func isBehind(at now: Duration) {}
    func wasLate(by delay: Duration) {}
}

import DNSSD

/// What the engine tells each operation. Touched by the loop's thread only.
protocol QuerierOperation: AnyObject {
    /// Which links it asks.
    var wish: LinkWish { get }
    /// When `advance` has something to do; nil when never.
    var deadline: Duration? { get }

    /// Nobody has been told anything yet.
    func begin(at now: Duration)
    func linkCame(_ link: Link, at now: Duration)
    func linkWent(_ link: Link, at now: Duration)
    /// Links were gone through: those that there are have come.
    func linksAreKnown(at now: Duration)
    func changed(_ changes: [RecordCache.Change], on link: Link, at now: Duration)
    /// Questions were sent there.
    func asked(on link: Link, at now: Duration)
    /// Packets were lost there.
    func lost(on link: Link)
    func degraded(_ text: String)
    func advance(to now: Duration)
    /// Reports what has come together.
    func flush()
    /// It is asked for on no link any more, and reports nothing.
    func end()
}

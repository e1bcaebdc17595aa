import DNSSD
import Discovery
import Records

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
    /// - Parameter asksAgain: whether everything is asked for again because of it.
    func lost(on link: Link, asksAgain: Bool, at now: Duration)
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

/// The operations in starting order, those of them that have something to report, and when each wants its turn.
///
/// There may be hundreds, each with a packet to look at and a deadline: nothing but their start and end goes through all.
struct OperationTable {
    private struct Entry {
        let operation: any QuerierOperation
        /// The deadline of its item in the heap.
        var queued: Moment?
        var isTouched = false
    }

    private var places: [UInt64: Int] = [:]
    private var readers: [Followers.Reader: Int] = [:]
    private var entries: [Entry?] = []
    private var free: [Int] = []
    private var heap = DeadlineHeap()
    private var touched: [Int] = []
    /// All of them, in starting order.
    private(set) var inOrder: [any QuerierOperation] = []

    var isEmpty: Bool { places.isEmpty }
    var count: Int { places.count }
    var ids: [UInt64] { places.keys.sorted() }

    // MARK: They come and go

    mutating func add(_ operation: any QuerierOperation, id: UInt64) {
        let place = free.popLast() ?? entries.count
        if place == entries.count { entries.append(nil) }
        entries[place] = Entry(operation: operation)
        places[id] = place
        readers[Followers.Reader(operation)] = place
        inOrder.append(operation)
        touch(operation)
    }

    mutating func remove(id: UInt64) -> (any QuerierOperation)? {
        guard let place = places.removeValue(forKey: id), let operation = entries[place]?.operation else { return nil }
        readers[Followers.Reader(operation)] = nil
        entries[place] = nil
        free.append(place)
        inOrder.removeAll { $0 === operation }
        return operation
    }

    subscript(reader: Followers.Reader) -> (any QuerierOperation)? {
        readers[reader].flatMap { entries[$0]?.operation }
    }

    // MARK: Turns

    /// Something happened to an operation: it may have facts, and another deadline.
    mutating func touch(_ operation: any QuerierOperation) {
        guard let place = readers[Followers.Reader(operation)], entries[place]?.isTouched == false else { return }
        entries[place]?.isTouched = true
        touched.append(place)
    }

    /// Takes the operations to which something happened, and notes their deadlines.
    mutating func takeTouched() -> [any QuerierOperation] {
        defer { touched = [] }
        return touched.compactMap { place in
            guard let entry = entries[place], entry.isTouched else { return nil }
            entries[place]?.isTouched = false
            queue(place, entry.operation.deadline)
            return entry.operation
        }
    }

    private mutating func queue(_ place: Int, _ deadline: Duration?) {
        let deadline = deadline.map { Moment($0) }
        guard entries[place]?.queued != deadline else { return }
        entries[place]?.queued = deadline
        guard let deadline else { return }
        heap.insert(DeadlineHeap.Item(deadline: deadline, slot: place))
        guard heap.count > 4 * count + 64 else { return }
        heap = DeadlineHeap(
            entries.indices.compactMap { place in
                entries[place]?.queued.map { DeadlineHeap.Item(deadline: $0, slot: place) }
            })
    }

    /// When the next one wants its turn; nil for never.
    var deadline: Duration? {
        mutating get {
            while let item = heap.first, entries[item.slot]?.queued != item.deadline { _ = heap.popFirst() }
            return heap.first?.deadline.time
        }
    }

    /// Takes the operations whose deadline has come.
    mutating func takeDue(at now: Duration) -> [any QuerierOperation] {
        var due: [any QuerierOperation] = []
        while let deadline, deadline <= now, let item = heap.popFirst(), let entry = entries[item.slot] {
            entries[item.slot]?.queued = nil
            touch(entry.operation)
            due.append(entry.operation)
        }
        return due
    }
}

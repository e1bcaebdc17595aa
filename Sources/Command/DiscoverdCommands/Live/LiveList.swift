#if Commands
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

/// The services of a live table: in order, filtered, and for a while those that are gone. A value.
struct LiveList {
    typealias Instant = ContinuousClock.Instant

    /// What happened to a service a moment ago.
    enum News: String {
        case found = "+"
        case changed = "~"
        case lost = "-"

        /// How long it is shown.
        var duration: Duration { self == .lost ? .seconds(30) : .seconds(10) }
    }

    /// A service.
    struct Row {
        fileprivate(set) var service: DiscoveredService
        fileprivate(set) var news: News?
        fileprivate var newsEnd: Instant?
        fileprivate var key: ListKey
        /// What a filter looks at; made when there is a filter.
        fileprivate var text: LiveFilter.Text?

        var isGone: Bool { news == .lost }
    }

    /// Services that come and go all the time must not fill the memory.
    static let maximumGone = 1000

    private var rows: [ServiceInstance: Row] = [:]
    /// Those that the filter lets through, in order.
    private var shown: [(key: ListKey, instance: ServiceInstance)] = []
    /// Those gone, in the order in which they went; some are back or dropped.
    private var gone: [ServiceInstance] = []
    private(set) var goneCount = 0
    /// When the next news is over.
    private(set) var nextEnd: Instant?
    private(set) var order: ListOrder
    private(set) var filter = LiveFilter("")

    init(order: ListOrder) { self.order = order }

    /// How many services are there.
    var count: Int { rows.count - goneCount }
    /// How many rows there are to show.
    var shownCount: Int { shown.count }

    /// A row that the filter lets through.
    subscript(index: Int) -> Row? { shown.indices.contains(index) ? rows[shown[index].instance] : nil }

    /// A service, whatever the filter.
    func row(of instance: ServiceInstance) -> Row? { rows[instance] }

    /// The service of a row.
    func instance(at index: Int) -> ServiceInstance? { shown.indices.contains(index) ? shown[index].instance : nil }

    /// Where a service stands; nil if it is not shown.
    func index(of instance: ServiceInstance) -> Int? {
        guard let key = rows[instance]?.key else { return nil }
        let index = place(of: key)
        return shown.indices.contains(index) && shown[index].key == key ? index : nil
    }

    /// A service was found or changed.
    /// - Parameter isNews: it was not there when the list began.
    mutating func present(_ service: DiscoveredService, isNews: Bool, now: Instant) {
        let before = rows[service.instance]
        var row = Row(service: service, news: nil, newsEnd: nil, key: ListKey(service, by: order))
        switch before {
        case nil: row.news = isNews ? .found : nil
        case let before? where before.isGone:
            goneCount -= 1
            row.news = .found
        case let before? where before.service.state == .found || before.service == service || before.news == .found:
            // To be resolved for the first time is no change.
            (row.news, row.newsEnd) = (before.news, before.newsEnd)
        case _?: row.news = .changed
        }
        put(row, over: before, now)
    }

    /// A service is gone.
    mutating func lost(_ instance: ServiceInstance, now: Instant) {
        guard let before = rows[instance], !before.isGone else { return }
        var row = before
        (row.news, row.newsEnd) = (.lost, nil)
        goneCount += 1
        gone.append(instance)
        put(row, over: before, now)
        var surplus = 0
        while goneCount > Self.maximumGone, surplus < gone.count {
            drop(gone[surplus])
            surplus += 1
        }
        gone.removeFirst(surplus)
        // Those that came back do not count and must not pile up.
        if gone.count > 2 * Self.maximumGone { gone.removeAll { rows[$0]?.isGone != true } }
    }

    /// Time has passed: news are over, and what is gone is dropped.
    mutating func passed(now: Instant) {
        guard let end = nextEnd, end <= now else { return }
        nextEnd = nil
        var dropped: Set<ServiceInstance> = []
        for (instance, row) in rows {
            guard let end = row.newsEnd else { continue }
            if end > now {
                nextEnd = min(nextEnd ?? end, end)
            } else if row.isGone {
                dropped.insert(instance)
            } else {
                rows[instance]?.news = nil
                rows[instance]?.newsEnd = nil
            }
        }
        guard !dropped.isEmpty else { return }
        goneCount -= dropped.count
        for instance in dropped { rows[instance] = nil }
        shown.removeAll { dropped.contains($0.instance) }
        gone.removeAll { dropped.contains($0) }
    }

    /// Shows only what matches.
    mutating func filter(_ filter: LiveFilter) {
        self.filter = filter
        select()
    }

    /// Shows them in another order.
    mutating func sort(by order: ListOrder) {
        self.order = order
        for (instance, row) in rows { rows[instance]?.key = ListKey(row.service, by: order) }
        select()
    }

    private mutating func select() {
        shown.removeAll(keepingCapacity: true)
        for instance in rows.keys {
            guard let key = rows[instance]?.key, isShown(instance) else { continue }
            shown.append((key, instance))
        }
        shown.sort { $0.key < $1.key }
    }

    private mutating func put(_ row: Row, over before: Row?, _ now: Instant) {
        var row = row
        if let news = row.news, row.newsEnd == nil { row.newsEnd = now + news.duration }
        if let end = row.newsEnd { nextEnd = min(nextEnd ?? end, end) }
        let instance = row.service.instance
        let oldIndex = before == nil ? nil : index(of: instance)
        rows[instance] = row
        let isShown = isShown(instance)
        if let oldIndex {
            if isShown, shown[oldIndex].key == row.key { return }
            shown.remove(at: oldIndex)
        }
        if isShown { shown.insert((row.key, instance), at: place(of: row.key)) }
    }

    private mutating func drop(_ instance: ServiceInstance) {
        guard rows[instance]?.isGone == true else { return }
        if let index = index(of: instance) { shown.remove(at: index) }
        rows[instance] = nil
        goneCount -= 1
    }

    private mutating func isShown(_ instance: ServiceInstance) -> Bool {
        guard !filter.isEmpty, let row = rows[instance] else { return true }
        let text = row.text ?? LiveFilter.Text(row.service)
        if row.text == nil { rows[instance]?.text = text }
        return filter.matches(text)
    }

    /// The first place whose key is not before `key`.
    private func place(of key: ListKey) -> Int { shown.partitioningIndex { !($0.key < key) } }
}

/// What a person types to see fewer services: any part of what is shown of them, whatever its case. A value.
struct LiveFilter: Hashable {
    /// What is looked at of a service.
    struct Text: Hashable {
        /// A TXT record may be long; what people look for is at its beginning.
        private static let limit = 2048
        fileprivate let bytes: [UInt8]

        init(_ service: DiscoveredService) {
            let text = service.textFields(.full).joined(separator: " ")
            bytes = Array(String(text.prefix(Self.limit)).lowercased().utf8)
        }
    }

    /// No one types more.
    static let limit = 100

    /// As it was typed.
    private(set) var text: String
    private let bytes: [UInt8]

    init(_ text: String) {
        self.text = String(text.prefix(Self.limit))
        bytes = Array(self.text.lowercased().utf8)
    }

    var isEmpty: Bool { bytes.isEmpty }

    func matches(_ text: Text) -> Bool {
        guard let first = bytes.first else { return true }
        var rest = text.bytes[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: bytes) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
#endif

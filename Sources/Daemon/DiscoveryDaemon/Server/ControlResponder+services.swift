package import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

extension ControlResponder {
    /// A request for services: which feed answers it, and which part of it.
    struct ServiceRequest: Sendable {
        let question: OpenQueries.Question
        let name: ServiceName?
        let detail: ServiceDetail

        init(_ query: QueryString) throws(ControlError) {
            do throws(DiscoveryError) {
                let (type, domain) = (try query.type(), try query.domain())
                let (interfaces, family) = (try query.interfaces(), try query.family())
                let resolution = try query.resolution()
                name = query["name"].flatMap { $0.isEmpty ? nil : ServiceName(observed: $0) }
                detail = resolution == .none ? .identity : .full
                guard let type else {
                    question = .all(domain, interfaces, family, resolution)
                    return
                }
                question = .query(
                    ServiceQuery(.type(type, domain), interfaces: interfaces, family: family, resolution: resolution)
                )
            } catch {
                throw ControlError(error)
            }
        }

        /// The same for one service alone, asked for by name without browsing for its type.
        var ofOne: OpenQueries.Question? {
            guard let name, case .query(let query) = question, case .type(let type, let domain) = query.target else {
                return nil
            }
            var one = query
            one.target = .instance(ServiceInstance(name: name, type: type, domain: domain))
            return .query(one)
        }

        /// The same on every interface and over both families; nil if it is that.
        var everywhere: OpenQueries.Question? {
            guard case .query(var query) = question, query.interfaces != .all || query.family != nil else { return nil }
            (query.interfaces, query.family) = (.all, nil)
            return .query(query)
        }

        func asks(for service: DiscoveredService) -> Bool { name.map { $0 == service.instance.name } ?? true }
    }

    /// How long to look for a single service that an incomplete list of its type lacks: a responder answers at once,
    /// and there is time for a second question (RFC 6762 §5.2).
    private static var secondLook: Duration { .milliseconds(1300) }

    /// What `questionAndLimit` says, for one answer, which may come from a query that knows more.
    func questionAndLimitOnce(_ request: ServiceRequest) -> (question: OpenQueries.Question, limit: Duration?) {
        let chosen = questionAndLimit(request)
        guard let name = request.name, let everywhere = request.everywhere, chosen.question == request.ofOne,
            chosen.limit == nil
        else { return chosen }
        return switch (warm.knowledge(of: everywhere), warm.open(everywhere)?.has(name)) {
        // What is nowhere is not there.
        case (.complete, false): (everywhere, nil)
        // It may be elsewhere only.
        case (.complete, _), (.partial, _): (chosen.question, Self.secondLook)
        case (.none, _): chosen
        }
    }

    /// The query to open: the type's if it is open and has the service, or knows that it does not exist; otherwise the
    /// service's own. With the longest useful wait for its first answers; nil for no limit.
    func questionAndLimit(_ request: ServiceRequest) -> (question: OpenQueries.Question, limit: Duration?) {
        guard let name = request.name, let one = request.ofOne else { return (request.question, nil) }
        if warm.open(request.question)?.has(name) == true { return (request.question, nil) }
        return switch warm.knowledge(of: request.question) {
        case .complete: (request.question, nil)
        case .partial: (one, Self.secondLook)
        case .none: (one, nil)
        }
    }

    func watchServices(_ query: QueryString) throws(ControlError) -> ControlAnswer {
        try query.allow(QueryString.ofServices.union(["since", "view"]))
        let request = try ServiceRequest(query)
        if let view = query["view"], view != "page" {
            throw ControlError(400, "invalid-request", "view is page")
        }
        guard let lease = warm.lease(questionAndLimit(request).question) else { throw Self.full }
        var reader = LogReader()
        if let since = query["since"], !since.isEmpty {
            guard let cursor = Cursor(since), cursor.epoch == warm.epoch, cursor.feed == lease.feed.id,
                lease.feed.remembers(cursor)
            else {
                throw ControlError(410, "gone", "what came after this cursor is not known any more; ask without since=")
            }
            reader = LogReader(resumingAfter: cursor.number, base: cursor.base)
        }
        let limit = facts.limits.watchBytes
        let facts = facts
        let view: (@Sendable (QueryFeed) -> PageView)? = { feed in
            PageView(local: facts.localAddresses(), routes: facts.routes(), found: feed.found)
        }
        return .lines(
            status: 200,
            WatchLines(
                lease, reader, request, epoch: warm.epoch, atMost: limit, view: query["view"] == nil ? nil : view))
    }

    /// A client could not reach a service at any address.
    func couldNotReach(_ query: QueryString, _ peer: SocketPeer) throws(ControlError) -> ControlAnswer {
        try query.allow(["type", "observed", "name", "domain"])
        guard case .query(let one)? = try ServiceRequest(query).ofOne, case .instance(let service) = one.target else {
            throw ControlError(400, "invalid-request", "name and type are needed")
        }
        let directory = network.directory
        if directory.lists(service), doubts.withLock({ $0.isNew(service, for: peer.uid, now: SystemTime().now) }) {
            directory.verify(service)
        }
        return .nothing
    }

    static var full: ControlError {
        ControlError(503, "too-many-queries", "\(OpenQueries.limit) queries are open for clients, and all are read")
    }
}

/// The lines of one `watch`.
final class WatchLines: LineSource {
    private static let batch = 256

    private struct State {
        var reader: LogReader
        var isOver = false
    }

    private let lease: OpenQueries.Lease
    private let request: ControlResponder.ServiceRequest
    private let epoch: UInt32
    /// The most bytes at a time, unless one line is longer.
    private let limit: Int
    private let view: (@Sendable (QueryFeed) -> PageView)?
    private let state: Locked<State>

    init(
        _ lease: OpenQueries.Lease,
        _ reader: LogReader,
        _ request: ControlResponder.ServiceRequest,
        epoch: UInt32,
        atMost limit: Int,
        view: (@Sendable (QueryFeed) -> PageView)?
    ) {
        self.view = view
        self.lease = lease
        self.request = request
        self.epoch = epoch
        self.limit = limit
        state = Locked(State(reader: reader))
    }

    func next() async -> [UInt8]? {
        var batch = Self.batch
        while true {
            // One task at a time calls this, so nothing else moves the reader meanwhile.
            var (reader, isOver) = state.withLock { ($0.reader, $0.isOver) }
            if isOver { return nil }
            var writer = JSONWriter()
            do throws(QueryFeed.Missed) {
                let base = reader.base
                guard let changes = try await lease.feed.next(&reader, atMost: batch) else { return nil }
                let view = view?(lease.feed)
                for (number, change) in changes { write(change, number, base, view, &writer) }
                if writer.bytes.count > limit, batch > 1 {
                    // Fewer, from the same place.
                    batch = max(1, batch / 4)
                    continue
                }
            } catch {
                // What was missed is no longer known: the reader must start over.
                writer.line("overflow")
                state.withLock { $0.isOver = true }
                return writer.bytes
            }
            state.withLock { [reader] in $0.reader = reader }
            if !writer.bytes.isEmpty { return writer.bytes }
        }
    }

    func end() async { lease.end() }

    private func write(
        _ change: Change<DiscoveredService>, _ number: UInt64, _ base: UInt64, _ view: PageView?,
        _ writer: inout JSONWriter
    ) {
        var isThere = false
        switch change {
        case .found(let service), .changed(let service):
            isThere = true
            guard request.asks(for: service) else { return }
        case .lost(let service): guard request.asks(for: service) else { return }
        case .settled, .backend, .degraded: break
        }
        let cursor = Cursor(epoch: epoch, feed: lease.feed.id, number: number, base: min(base, number))
        writer.line(change, cursor: cursor.description) { object, service in
            object.key("service")
            object.service(service, detail: request.detail)
            if isThere, let view { object.page(service, view) }
        }
    }
}

/// Services that clients could not reach: each is verified once in a while, whoever says so and however often.
package struct Doubts: Sendable {
    /// The shortest interval between two verifications of a service, and how long one takes (RFC 6762 §10.4).
    package static let interval = Duration.seconds(10)
    /// Services verified in that time; further ones are left alone.
    package static let capacity = 64
    /// Services verified in that time for one user, so that none can use up all.
    package static let share = 8

    private struct Verification {
        let begun: Duration
        let user: UInt32?
    }

    private var verified: [ServiceInstance: Verification] = [:]

    package init() {}

    /// Returns whether to verify a service now. Only for services that exist: each has one of few places.
    /// - Parameters:
    ///   - service: the service.
    ///   - user: who could not reach it; all that are unknown count as one.
    ///   - now: the time.
    package mutating func isNew(_ service: ServiceInstance, for user: UInt32?, now: Duration) -> Bool {
        verified = verified.filter { now < $0.value.begun + Self.interval }
        guard verified[service] == nil, verified.count < Self.capacity,
            verified.values.count(where: { $0.user == user }) < Self.share
        else { return false }
        verified[service] = Verification(begun: now, user: user)
        return true
    }
}

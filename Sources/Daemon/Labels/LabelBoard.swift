internal import DNSSD
package import DiscoveryControl
package import DiscoveryDaemon

/// What all sources have said, and what of it is published now. A value with virtual time.
package struct LabelBoard: Sendable {
    /// What is to be done after a change.
    package struct Turn: Sendable {
        /// All that labels want now.
        package var requests: [RegistrationRequest] = []
        /// When something changes by itself.
        package var next: Duration?
        /// Lines for the log.
        package var news: [(isTrouble: Bool, text: String)] = []
    }

    private struct Place: Hashable {
        let source: LabelSource
        let id: String
    }

    private struct Entry {
        let arrival: UInt64
        var subject: Labelled
        var reading: LabelReading
        /// Why it was not told the last time what it is; what it was stays.
        var silence: String?
    }

    /// What the log has of a source.
    private enum Logged {
        case nothing
        case followed
        /// - Parameter isNew: with a reason that it had not before, so that its end is said at once.
        case failed(isNew: Bool)
    }

    private struct Followed {
        /// Why it cannot be followed.
        var failure: String?
        /// Since when it fails or not.
        var since = Duration.zero
        var hasAnswered = false
        /// Containers that found no room.
        var leftOut: Set<String> = []
        var logged = Logged.nothing
        /// Reasons that were logged; what is more is logged where it holds.
        var reasons: Set<String> = []
    }

    /// Containers or units of one source; more are left out.
    package static let maximumEntries = 1024
    /// What a source that does not answer has published stays for as long; what holds as long is logged again.
    package static let grace = Duration.seconds(30)
    private static let maximumRefusals = 64
    /// Containers without room that are counted.
    private static let maximumLeftOut = 16_384
    private static let maximumReasons = 16
    /// Sentences that were logged and are remembered; no more are logged.
    private static let maximumTold = 1024

    /// Grows with what may change what is published.
    package private(set) var version: UInt64 = 0
    private let grants: LabelGrants
    private var followed: [LabelSource: Followed] = [:]
    private var entries: [Place: Entry] = [:]
    private var lastArrival: UInt64 = 0
    private var pace = LabelPace()
    private var told: Set<String> = []
    private var news: [(isTrouble: Bool, text: String)] = []
    /// Names of those whose services are more than the number that is permitted.
    private var tooMany: Set<Place> = []

    package init(_ sources: [LabelSource], _ grants: LabelGrants) {
        self.grants = grants
        for source in sources where source != .traefik { followed[source] = Followed() }
    }

    // MARK: What sources say

    /// One was looked at.
    /// - Parameter subject: nil where it is gone, or says nothing.
    /// - Returns: whether it is kept.
    @discardableResult
    package mutating func saw(_ subject: Labelled?, _ id: String, of source: LabelSource) -> Bool {
        let place = Place(source: source, id: id)
        entries[place]?.silence = nil
        guard let subject, !subject.saysNothing else {
            followed[source]?.leftOut.remove(id)
            if entries.removeValue(forKey: place) != nil { wake() }
            return false
        }
        if let entry = entries[place] {
            guard entry.subject != subject else { return true }
            var same = entry.subject
            same.isUp = subject.isUp
            if same != subject { entries[place]?.reading = LabelReading(subject, grants) }
            entries[place]?.subject = subject
        } else {
            guard entries.keys.count(where: { $0.source == source }) < Self.maximumEntries else {
                if let count = followed[source]?.leftOut.count, count < Self.maximumLeftOut {
                    followed[source]?.leftOut.insert(id)
                }
                return false
            }
            followed[source]?.leftOut.remove(id)
            lastArrival += 1
            entries[place] = Entry(
                arrival: lastArrival, subject: subject, reading: LabelReading(subject, grants))
        }
        tell(source, subject, entries[place]?.reading.problems ?? [])
        wake()
        return true
    }

    /// It was not told what one is; what it was stays.
    /// - Parameter reason: safe for a terminal.
    /// - Returns: whether it is kept.
    package mutating func notTold(_ id: String, _ reason: String, of source: LabelSource) -> Bool {
        let place = Place(source: source, id: id)
        guard let subject = entries[place]?.subject else {
            var unknown = Labelled(name: String(id.prefix(12)))
            unknown.problem = reason
            return saw(unknown, id, of: source)
        }
        if subject.problem != reason { entries[place]?.silence = reason }
        tell(source, subject, [reason])
        wake()
        return true
    }

    /// What is published is to be looked at again.
    package mutating func wake() { version += 1 }

    /// It runs no longer, be it that it starts again.
    package mutating func stopped(_ id: String, of source: LabelSource) {
        let place = Place(source: source, id: id)
        guard entries[place]?.subject.isUp == true else { return }
        entries[place]?.subject.isUp = false
        wake()
    }

    /// These are all that run; others are gone.
    /// - Parameter rest: those of them that are not looked at.
    package mutating func listed(
        _ ids: Set<String>, of source: LabelSource, without rest: Set<String> = [], at now: Duration
    ) {
        for place in entries.keys where place.source == source && !ids.contains(place.id) { entries[place] = nil }
        wake()
        guard var state = followed[source] else { return }
        state.leftOut.formIntersection(ids)
        for id in rest.prefix(Self.maximumLeftOut - state.leftOut.count) { state.leftOut.insert(id) }
        if state.failure != nil || !state.hasAnswered { state.since = now }
        (state.failure, state.hasAnswered) = (nil, true)
        followed[source] = state
        log(source, at: now)
    }

    /// A source cannot be followed now.
    /// - Parameter reason: safe for a terminal.
    package mutating func failed(_ source: LabelSource, _ reason: String, at now: Duration) {
        wake()
        if followed[source]?.failure == nil { followed[source]?.since = now }
        followed[source]?.failure = reason
        log(source, at: now)
    }

    /// Logs what is new of a source, or has held; so one that breaks off again and again does not fill the log.
    /// - Returns: when to ask again.
    @discardableResult
    private mutating func log(_ source: LabelSource, at now: Duration) -> Duration? {
        guard var state = followed[source] else { return nil }
        defer { followed[source] = state }
        let held = state.since + Self.grace
        if let reason = state.failure {
            let isNew = state.reasons.count < Self.maximumReasons && state.reasons.insert(reason).inserted
            if case .failed = state.logged, !isNew { return nil }
            guard isNew || held <= now else { return held }
            state.logged = .failed(isNew: isNew)
            news.append((true, "labels of \(source.rawValue) are not followed, and this is tried again: \(reason)"))
        } else if state.hasAnswered {
            switch state.logged {
            case .followed: return nil
            case .failed(isNew: false) where held > now: return held
            case .nothing, .failed: break
            }
            state.logged = .followed
            news.append((false, "labels of \(source.rawValue) are followed"))
        }
        return nil
    }

    private mutating func tell(_ source: LabelSource, _ subject: Labelled, _ problems: [String]) {
        for problem in problems {
            guard told.count < Self.maximumTold else { return }
            guard told.insert("\(source.rawValue) \(subject.name) \(problem)").inserted else { continue }
            news.append((true, "a label of \(subject.name.quotedForMessage) (\(source.rawValue)): \(problem)"))
            if told.count == Self.maximumTold {
                news.append((true, "more labels that are wrong are not logged: 'discoverd status' has them"))
            }
        }
    }

    // MARK: What is published

    /// What is wanted now.
    package mutating func turn(at now: Duration) -> Turn {
        var turn = Turn()
        var next: Duration?
        func wait(until deadline: Duration) { next = min(next ?? deadline, deadline) }
        var away: Set<LabelSource> = []
        for source in Array(followed.keys) {
            if let deadline = log(source, at: now) { wait(until: deadline) }
            guard let state = followed[source], state.failure != nil else { continue }
            if state.since + Self.grace > now { wait(until: state.since + Self.grace) } else { away.insert(source) }
        }
        tooMany = []
        var wanted: [(key: LabelPace.Key, request: RegistrationRequest)] = []
        var keys: Set<LabelPace.Key> = []
        for (place, entry) in entries.sorted(by: { $0.value.arrival < $1.value.arrival })
        where entry.subject.isUp && !away.contains(place.source) {
            for request in entry.reading.requests {
                guard wanted.count < grants.number else {
                    tooMany.insert(place)
                    continue
                }
                let key = LabelPace.Key(
                    name: "\(place.source.rawValue) \(entry.subject.name)", request.service.instance)
                if keys.insert(key).inserted { wanted.append((key, request)) }
            }
        }
        for key in pace.begun where !keys.contains(key) { pace.end(key, at: now) }
        for one in wanted {
            if let deadline = pace.begin(one.key, at: now) {
                wait(until: deadline)
            } else {
                turn.requests.append(one.request)
            }
        }
        for source in Set(tooMany.map(\.source)) where told.insert("\(source.rawValue) \(tooManyText)").inserted {
            news.append((true, "\(source.rawValue): \(tooManyText)"))
        }
        turn.next = next
        (turn.news, news) = (news, [])
        return turn
    }

    private var tooManyText: String {
        "labels may publish \(grants.number) services and aliases; `number` in `labels:` under `access:` is the bound"
    }

    /// How each source stands, in the order of the configuration.
    package func statuses(of sources: [LabelSource]) -> [LabelStatus] {
        sources.compactMap { source in
            guard let state = followed[source] else { return nil }
            var running = 0
            // What several want, as an alias, is published once.
            var services: Set<RegistrationRequest> = []
            var refused: [LabelStatus.Refusal] = []
            let own = entries.filter { $0.key.source == source }.sorted { $0.value.arrival < $1.value.arrival }
            for (place, entry) in own {
                if entry.subject.isUp { running += 1 }
                let name = "\(source.rawValue) \(entry.subject.name)"
                services.formUnion(
                    entry.reading.requests.filter { pace.hasBegun(LabelPace.Key(name: name, $0.service.instance)) })
                let reasons =
                    entry.reading.problems + [entry.silence].compactMap(\.self)
                    + (tooMany.contains(place) ? [tooManyText] : [])
                for reason in reasons where refused.count < Self.maximumRefusals {
                    refused.append(LabelStatus.Refusal(name: entry.subject.name, reason: reason))
                }
            }
            let rest =
                state.leftOut.isEmpty ? nil : "\(state.leftOut.count) more than \(Self.maximumEntries) are left out"
            return LabelStatus(
                source: source, running: running, services: services.count,
                failure: state.failure ?? (state.hasAnswered ? rest : "it has not answered yet"),
                refused: refused)
        }
    }
}

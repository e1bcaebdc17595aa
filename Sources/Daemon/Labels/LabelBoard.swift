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
    }

    private struct Followed {
        /// Why it cannot be followed, and since when.
        var failure: (reason: String, since: Duration)?
        var hasAnswered = false
        /// Containers that found no room.
        var leftOut = 0
    }

    /// Containers or units of one source; more are left out.
    package static let maximumEntries = 1024
    /// What a source that does not answer has published stays for as long.
    package static let grace = Duration.seconds(30)
    private static let maximumRefusals = 64
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
        guard let subject, !subject.saysNothing else {
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
                followed[source]?.leftOut += 1
                return false
            }
            lastArrival += 1
            entries[place] = Entry(
                arrival: lastArrival, subject: subject, reading: LabelReading(subject, grants))
        }
        tell(source, subject, entries[place]?.reading.problems ?? [])
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
    package mutating func listed(_ ids: Set<String>, of source: LabelSource) {
        for place in entries.keys where place.source == source && !ids.contains(place.id) { entries[place] = nil }
        wake()
        followed[source]?.leftOut = 0
        guard var state = followed[source] else { return }
        if state.failure != nil || !state.hasAnswered {
            news.append((false, "labels of \(source.rawValue) are followed"))
        }
        (state.failure, state.hasAnswered) = (nil, true)
        followed[source] = state
    }

    /// A source cannot be followed now.
    /// - Parameter reason: safe for a terminal.
    package mutating func failed(_ source: LabelSource, _ reason: String, at now: Duration) {
        wake()
        let before = followed[source]?.failure
        followed[source]?.failure = (reason, before?.since ?? now)
        guard before?.reason != reason else { return }
        news.append((true, "labels of \(source.rawValue) are not followed, and this is tried again: \(reason)"))
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
        for (source, state) in followed {
            guard let failure = state.failure else { continue }
            if failure.since + Self.grace > now { wait(until: failure.since + Self.grace) } else { away.insert(source) }
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
        for place in tooMany.sorted(by: { $0.id < $1.id }) {
            guard let entry = entries[place] else { continue }
            tell(place.source, entry.subject, [tooManyText])
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
            var (running, services) = (0, 0)
            var refused: [LabelStatus.Refusal] = []
            let own = entries.filter { $0.key.source == source }.sorted { $0.value.arrival < $1.value.arrival }
            for (place, entry) in own {
                if entry.subject.isUp { running += 1 }
                let name = "\(source.rawValue) \(entry.subject.name)"
                services += entry.reading.requests.count {
                    pace.hasBegun(LabelPace.Key(name: name, $0.service.instance))
                }
                let reasons = entry.reading.problems + (tooMany.contains(place) ? [tooManyText] : [])
                for reason in reasons where refused.count < Self.maximumRefusals {
                    refused.append(LabelStatus.Refusal(name: entry.subject.name, reason: reason))
                }
            }
            let rest = state.leftOut > 0 ? "\(state.leftOut) more than \(Self.maximumEntries) are left out" : nil
            return LabelStatus(
                source: source, running: running, services: services,
                failure: state.failure?.reason ?? (state.hasAnswered ? rest : "it has not answered yet"),
                refused: refused)
        }
    }
}

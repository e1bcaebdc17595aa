internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// Turns the daemon's reports of a publication into facts. A value: receives events, returns facts.
struct RemotePublicationFacts: Sendable {
    /// The daemon's identifier; nil while it has none.
    var id: String?
    /// It has ended, or its owner has cancelled it: nothing more is reported.
    var isOver = false
    private let wanted: ServiceName
    private var last: PublicationFact?
    /// What was so before the daemon fell silent.
    private var interrupted: PublicationFact?
    /// What was so before it refused a change, and still is.
    private var unchanged: PublicationFact?
    /// No refusal ends it, as its owner wants.
    private let isPersistent: Bool
    /// The daemon has published it: only another owner of its name ends it.
    private var wasEstablished = false
    /// It has said with a line that it refuses, and ends its answer next.
    private var isEndExpected = false

    init(_ wanted: ServiceName, isPersistent: Bool) {
        self.wanted = wanted
        self.isPersistent = isPersistent
    }

    mutating func received(_ event: RemoteStream.Event) -> [PublicationFact] {
        guard !isOver, let fact = fact(event) else { return [] }
        // Another attempt after a refusal is not worth a report.
        if fact.state == .registering, isRefused { return [] }
        switch event {
        case .hangs(.some): interrupted = last
        // It is as it was, with what it had refused.
        case .hangs(nil): interrupted = nil
        default: (interrupted, unchanged) = (nil, nil)
        }
        guard fact != last else { return [] }
        // The daemon reports its current state: one that has passed is missing.
        let isFirst = fact.state == .established && last?.state != .registering && last?.state != .established
        last = fact
        return isFirst ? [PublicationFact(name: fact.name, state: .registering), fact] : [fact]
    }

    /// The daemon refuses another TXT record: what it had stays.
    mutating func refusedChange(_ error: DiscoveryError) -> [PublicationFact] {
        guard !isOver, let now = unchanged ?? last else { return [] }
        let fact = PublicationFact(name: now.name, state: .refused(error))
        (unchanged, last) = (now, fact)
        return [fact]
    }

    /// It has taken one.
    mutating func tookChange() -> [PublicationFact] {
        guard !isOver, let fact = unchanged else { return [] }
        (unchanged, last) = (nil, fact)
        return [fact]
    }

    /// Refused as a whole, and not established since.
    private var isRefused: Bool { if unchanged == nil, case .refused = last?.state { true } else { false } }

    private mutating func fact(_ event: RemoteStream.Event) -> PublicationFact? {
        let name = last?.name ?? wanted
        switch event {
        case .woken: return nil
        case .hangs(let reason?): return PublicationFact(name: name, state: .waiting(reason))
        case .hangs(nil): return interrupted
        case .disconnected(let reason):
            id = nil
            if isEndExpected {
                isEndExpected = false
                return nil
            }
            return PublicationFact(name: name, state: .waiting(reason))
        case .refused(let error):
            guard error.status < 500 else { return PublicationFact(name: name, state: .waiting(error.message)) }
            isOver = true
            let isTaken = error.code == DiscoveryError.Code.nameTaken.description
            let state = kept(isTaken ? .conflicted(error.discoveryError) : .failed(error.discoveryError))
            return PublicationFact(name: name, state: state)
        case .line(let bytes):
            guard let json = try? JSONReader.read(bytes), let status = RegistrationStatus(json) else { return nil }
            id = status.id
            guard var known = status.publication else { return nil }
            if known == .withdrawn {
                known = .failed(DiscoveryError(.closed, "\(ServiceName(observed: status.name)) was withdrawn"))
            }
            if known == .established { wasEstablished = true }
            isOver = status.isFinal
            let state = kept(known)
            isEndExpected = status.isFinal && !isOver
            return PublicationFact(name: ServiceName(observed: status.name), state: state)
        }
    }

    /// What a state is for a publication that refusals do not end: the stream asks again. A restarted daemon, for one, does not know what it had
    /// published.
    private mutating func kept(_ state: PublicationFact.State) -> PublicationFact.State {
        switch state {
        case .failed(let error) where error.code != .closed && (isPersistent || wasEstablished),
            .conflicted(let error) where isPersistent:
            isOver = false
            return .refused(error)
        default: return state
        }
    }
}

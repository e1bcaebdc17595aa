internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc

/// Follows the containers of one runtime, on a thread of its own. It waits for events, and looks at what they name.
struct RuntimeFollower {
    /// How long the stream may take to begin; Docker says so at once, and not every runtime.
    private static let beginning = Duration.seconds(2)
    /// Between two lists, for what no event has said.
    private static let interval = Duration.seconds(300)
    /// Looks without a look at the events.
    private static let looksInTurn = 16

    private let source: LabelSource
    private let readsTraefik: Bool
    private let api: RuntimeAPI
    private let board: Awaited<LabelBoard>
    private let stop: StopBell
    private let time: any TimeSource = SystemTime()

    private var events: RuntimeEvents
    private var schedule = LookSchedule()
    /// Those with labels.
    private var known: Set<String> = []
    private var listing = Duration.zero

    init(_ source: LabelSource, readsTraefik: Bool, _ board: Awaited<LabelBoard>, _ stop: StopBell) {
        self.source = source
        self.readsTraefik = readsTraefik
        api = RuntimeAPI(
            source.rawValue, runtimeDirectory: Environment.value("XDG_RUNTIME_DIR"), isRoot: geteuid() == 0)
        events = RuntimeEvents(readsTraefik: readsTraefik)
        (self.board, self.stop) = (board, stop)
    }

    /// Until `stop` is rung.
    mutating func run() {
        var pause = RetryPause()
        while !stop.isRung {
            let start = time.now
            do throws(RuntimeAPI.Failure) {
                try follow()
            } catch {
                guard !stop.isRung else { return }
                let (source, now) = (source, time.now)
                board.change { $0.failed(source, error.reason, at: now) }
                stop.wait(pause.failed(after: now - start))
            }
        }
    }

    /// Returns when `stop` is rung.
    private mutating func follow() throws(RuntimeAPI.Failure) {
        let stream = try api.events()
        var reader = HTTPResponseReader()
        (events, schedule) = (RuntimeEvents(readsTraefik: readsTraefik), LookSchedule())
        // Events count from here on, so the list misses none.
        let begin = time.now + Self.beginning
        while reader.status == nil, time.now < begin {
            guard try take(stream, &reader, until: begin) else { return }
        }
        try list()
        while true {
            let next = min(schedule.next ?? listing, listing)
            guard try take(stream, &reader, until: next) else { return }
            for _ in 0..<Self.looksInTurn {
                // One that is not told costs time: events come first then.
                guard let id = schedule.take(at: time.now), try look(id) else { break }
            }
            if time.now >= listing { try list() }
        }
    }

    /// Waits for events.
    /// - Returns: false where `stop` was rung.
    private mutating func take(
        _ stream: UnixConnection, _ reader: inout HTTPResponseReader, until deadline: Duration
    ) throws(RuntimeAPI.Failure) -> Bool {
        guard !stop.isRung else { return false }
        do throws(DiscoveryError) {
            switch try stream.receive(until: Deadline(in: max(deadline - time.now, .zero)), bell: stop.bell) {
            case .rung: return false
            case .timedOut: return true
            case .ended: throw DiscoveryError(.backendUnavailable, "the stream of events has ended")
            case .bytes(let bytes):
                do throws(HTTPResponseReader.Failure) {
                    try reader.received(bytes)
                } catch {
                    throw DiscoveryError(.backendFailed, error.reason)
                }
            }
        } catch {
            throw RuntimeAPI.Failure(reason: "\(api.path.escapedForTerminal): \(error.message)")
        }
        if let status = reader.status, status != 200 {
            throw RuntimeAPI.Failure(reason: "\(api.path.escapedForTerminal) answers with status \(status)")
        }
        if reader.isDone {
            throw RuntimeAPI.Failure(reason: "\(api.path.escapedForTerminal): the stream of events has ended")
        }
        let now = time.now
        for event in events.received(reader.takeBody(), isKnown: { known.contains($0) }) {
            switch event {
            case .lost: listing = min(listing, now + LookSchedule.pause)
            case .changed(let id): add(id, at: now)
            case .stopped(let id):
                if known.contains(id) {
                    let source = source
                    board.change { $0.stopped(id, of: source) }
                }
                schedule.forget(id)
                add(id, at: now)
            }
        }
        return true
    }

    private mutating func add(_ id: String, at now: Duration) {
        if !schedule.add(id, at: now) { listing = min(listing, now + LookSchedule.pause) }
    }

    /// Asks for all that run and have labels; what is not there any more has ended.
    private mutating func list() throws(RuntimeAPI.Failure) {
        var (ids, ordered): (Set<String>, [String]) = ([], [])
        // Those that mean something first, where not all find room; the last list has rules of Traefik, and misspelt labels.
        for label in ["\(Labelled.prefix)publish", "\(Labelled.prefix)alias", nil] {
            do throws(RuntimeAPI.Failure) {
                for id in try api.containers(with: label, readsTraefik: readsTraefik) where ids.insert(id).inserted {
                    ordered.append(id)
                }
            } catch {
                // A list of all is long where many containers are nobody's matter.
                guard label == nil, !readsTraefik, error.extent == .tooLong else { throw error }
            }
        }
        let (source, now, all) = (source, time.now, ids)
        let rest = Set(ordered.dropFirst(LookSchedule.maximum))
        board.change { $0.listed(all, of: source, without: rest, at: now) }
        known.formIntersection(ids)
        listing = now + Self.interval
        for id in ordered.prefix(LookSchedule.maximum) { schedule.listed(id, at: now) }
    }

    /// - Returns: whether it was told what the container is.
    private mutating func look(_ id: String) throws(RuntimeAPI.Failure) -> Bool {
        var subject: Labelled?
        let source = source
        do throws(RuntimeAPI.Failure) {
            subject = try api.inspection(of: id).flatMap { Labelled(inspection: $0, readsTraefik: readsTraefik) }
        } catch {
            switch error.extent {
            case .all: throw error
            case .notTold:
                schedule.lookAgain(id, at: time.now)
                if board.change({ $0.notTold(id, error.reason, of: source) }) { known.insert(id) }
                return false
            case .tooLong: break
            }
            // One that says too much must not keep the others from being looked at.
            var unknown = Labelled(name: String(id.prefix(12)))
            unknown.problem = error.reason
            subject = unknown
        }
        schedule.wasTold(id)
        let seen = subject
        let isKept = board.change { $0.saw(seen, id, of: source) }
        if isKept { known.insert(id) } else { known.remove(id) }
        return true
    }
}

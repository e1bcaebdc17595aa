package import DNSSD
package import DiscoveryDaemon
internal import DiscoverySystem
internal import Libc
package import MulticastEngine

/// `.local` for programs that know nothing of multicast DNS: answers what the C library and resolvers of DNS ask, from the wire's records.
package final class LocalNames: Sendable {
    /// From where it is asked.
    package struct Sources: Sendable {
        /// Listening sockets that the service manager made, at the path of libnss-mdns.
        package var nss: [Int32] = []
        /// Whether to listen there without one.
        package var bindsNSS = false

        /// Sockets that the service manager made for DNS.
        package var dns: [(descriptor: Int32, kind: InheritedSocket.Kind)] = []
        /// Where else DNS is served.
        package var dnsAddresses: [DNSListen] = []

        package init() {}

        /// All of it, where it cannot be answered.
        package func failed(_ reason: String) -> NamesStatus {
            var status = NamesStatus()
            status.dns = (dns.compactMap { DNSPlaces.name(of: $0.descriptor) } + dnsAddresses.map(\.description))
                .uniqued().map { .init($0, failure: reason) }
            status.nss = nss.isEmpty && !bindsNSS ? [] : [.init(NSSPlace.path, failure: reason)]
            return status
        }

        package var isEmpty: Bool { nss.isEmpty && !bindsNSS && !hasDNS }
        var hasDNS: Bool { !dns.isEmpty || !dnsAddresses.isEmpty }
    }

    private let loop: EventLoop
    private let core: LoopBound<NamesCore>
    private let shown: Locked<NamesStatus>

    /// Where it answers.
    package var status: NamesStatus { shown.withLock { $0 } }

    /// Starts a thread, and answers.
    /// - Parameters:
    ///   - engine: what asks the links; without one each question is refused at once, and who asks goes elsewhere.
    ///   - machine: this machine's name on the links, `h1.local`, as it is now.
    ///   - aliases: further names of it.
    /// - Returns: nil where nothing is to be served, or the system has no thread left.
    package init?(
        _ sources: Sources, from engine: MulticastEngine?, machine: @escaping @Sendable () -> String?,
        aliases: @escaping @Sendable () -> Set<HostName>, _ log: DaemonLog
    ) {
        guard !sources.isEmpty, let loop = EventLoop(paused: "names") else { return nil }
        let shown = Locked(NamesStatus())
        let core = LoopBound(to: loop, NamesCore(loop: loop, machine: ThisMachine(machine, aliases), shown, log))
        (self.loop, self.core, self.shown) = (loop, core, shown)
        let desk = engine?.openDesk { answers in core.post { $0.answered(answers) } }
        core.post { $0.begin(sources, desk) }
        guard loop.start() else {
            // It has begun, for a loop that does not run does at once what it is given.
            core.post { $0.end() }
            return nil
        }
    }

    /// Answers nothing any more; a path that it made is gone when this returns. Called again, it returns when the first has.
    package func stop() async {
        await withCheckedContinuation { continuation in
            core.post { $0.end() }
            loop.stop { continuation.resume() }
        }
    }
}

/// What is asked and answered. Used only on the loop's thread.
final class NamesCore {
    /// How often it looks who has the path, and whose time is over.
    private static let interval = Duration.seconds(1)

    private let log: DaemonLog
    private let loop: EventLoop
    private let machine: ThisMachine
    private let timer: LoopTimer
    /// Fires at the end of a turn in which something was asked.
    private let sending: LoopTimer
    private var desk: RecordDesk?
    private var nss: NSSClients?
    private var dns: DNSServer?
    private var place: NSSPlace?
    private var lastTicket: UInt64 = 0
    /// What is asked of the links at the end of this turn.
    private var batch: [RecordDesk.Asked] = []
    /// Who had the path when it was looked at last.
    private var owner: NSSPlace.Owner?
    /// What was said of the path last.
    private var told: String?
    /// Why it does not answer there.
    private var absence = "it is looked at again"
    private let shown: Locked<NamesStatus>
    private var hasInheritedNSS = false

    init(loop: EventLoop, machine: ThisMachine, _ shown: Locked<NamesStatus>, _ log: DaemonLog) {
        (self.loop, self.machine, self.shown, self.log) = (loop, machine, shown, log)
        timer = LoopTimer(loop: loop)
        sending = LoopTimer(loop: loop)
    }

    func begin(_ sources: LocalNames.Sources, _ desk: RecordDesk?) {
        self.desk = desk
        let clients = NSSClients(loop: loop, machine: machine) { [unowned self] in
            newTicket
        } ask: { [unowned self] in
            add($0)
        }
        clients.refusesAll = desk == nil
        nss = clients
        for descriptor in sources.nss { clients.listen(descriptor) }
        hasInheritedNSS = !sources.nss.isEmpty
        if sources.bindsNSS, sources.nss.isEmpty { place = NSSPlace() }
        if sources.hasDNS {
            let server = DNSServer(loop: loop, machine: machine, at: sources.dnsAddresses, log) { [unowned self] in
                newTicket
            } ask: { [unowned self] in
                add($0)
            }
            dns = server
            for socket in sources.dns { server.adopt(socket.descriptor, socket.kind) }
        }
        timer.fire = { [unowned self] in look() }
        sending.fire = { [unowned self] in send() }
        look()
    }

    func end() {
        desk?.close()
        timer.free()
        sending.free()
        nss?.endAll()
        dns?.endAll()
        place?.close()
    }

    private func look() {
        nss?.sweep()
        dns?.look()
        keepPlace()
        show()
        timer.set(after: Self.interval)
    }

    private func show() {
        var status = NamesStatus()
        status.dns = dns?.status ?? []
        if hasInheritedNSS { status.nss = [.init("a socket of the service manager")] }
        if let place { status.nss = [.init(place.path, failure: place.descriptor >= 0 ? nil : absence)] }
        shown.withLock { $0 = status }
    }

    // MARK: The path

    private func keepPlace() {
        guard var place else { return }
        let before = owner
        let owner = place.owner
        self.owner = owner
        if owner == .us { return }
        if place.descriptor >= 0 { nss?.leave(place.descriptor) }
        place.close()
        switch owner {
        // Between its bind and its listen an avahi-daemon that starts looks as one that was killed.
        case .abandoned where before != .abandoned: break
        case .nobody, .abandoned:
            do throws(SystemError) {
                try place.take()
                nss?.listen(place.descriptor)
                tell("names below .local are answered at \(place.path)")
            } catch {
                absence = "\(error)"
                tell("names below .local cannot be answered at \(place.path): \(error)")
            }
        case .others:
            absence = "another program does, and this daemon when that has gone"
            tell("another program answers at \(place.path), and this daemon when it has gone")
        case .obstacle:
            absence = "it is no socket"
            tell("names below .local cannot be answered: \(place.path) is no socket")
        case .us: break
        }
        self.place = place
    }

    private func tell(_ text: String) {
        guard text != told else { return }
        told = text
        log.notice(text)
    }

    // MARK: Questions and answers

    private func add(_ asked: RecordDesk.Asked) {
        batch.append(asked)
        if batch.count == 1 { sending.set(after: .zero) }
    }

    private func send() {
        let asked = batch
        batch = []
        if let desk { desk.ask(asked) } else { answered(asked.map { ($0.ticket, .refused) }) }
    }

    private var newTicket: UInt64 {
        lastTicket += 1
        return lastTicket
    }

    func answered(_ answers: [(ticket: UInt64, answer: DeskAnswer)]) {
        for item in answers {
            nss?.answered(item.ticket, item.answer)
            dns?.answered(item.ticket, item.answer)
        }
    }
}

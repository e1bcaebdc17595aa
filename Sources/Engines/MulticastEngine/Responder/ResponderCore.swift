import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Records
import Responder

/// The publications of this process on its links, and the traffic between them. Used only on the loop's thread. The rules are in
/// `LinkResponder`.
final class ResponderCore {
    /// The longest interval between looks at what nobody reports: the machine's name, other programs on the port, sleep.
    private static let longestWait = Duration.seconds(30)
    /// The difference between the clocks from which the machine counts as having slept.
    private static let suspended = Duration.seconds(2)
    /// The name of a machine that has none, as avahi-daemon has it.
    static let noName = "linux"

    let loop: EventLoop
    private let monitor: LinkMonitor
    private let timer: BootTimer
    var links: [NetworkInterface: ResponderLink] = [:]
    var publications: [UInt64: WirePublication] = [:]
    /// When registrations are asked again.
    private var retries = DeadlineTable<UInt64>()
    var wishes: [LinkWish: Int] = [:]
    var system: SystemLinks?
    /// The links that the wishes mean, as last looked at.
    var selection = LinkSelection([], [LinkWish]())
    /// Sockets that hear what is said to this machine alone; none where another program does.
    var direct: [LinkSocket] = []
    private var echoes = Echoes()
    /// Other programs of this machine have spoken as responders: the kernel says whose words they are, and not an address.
    private var hasCompany = false
    /// This machine's name, and what has become of it on its links.
    var machineName = ""
    var host = HostLabel(noName) { didSet { noteName() } }
    /// What others see of that, while something is published.
    let nameInUse = Locked<MulticastEngine.MachineName?>(nil)
    private var nameWatch: MachineNameWatch?
    private var slept = Duration.zero
    private var looksAgain = Duration.zero
    /// A publication has ended: its links may be closed once its goodbyes, and the host's, are sent.
    var isReviewDue = false
    /// What waits until all goodbyes are sent.
    private var whenSilent: [() -> Void] = []
    /// Everything has ended, and nothing has a turn any more.
    private var isOver = false

    /// Nil if no descriptor is left.
    init?(loop: EventLoop) {
        self.loop = loop
        monitor = LinkMonitor(loop: loop)
        guard let timer = BootTimer(loop: loop) else { return nil }
        self.timer = timer
        timer.fire = { [weak self] in self?.turn() }
    }

    var openObjects: Int {
        publications.count + links.values.reduce(direct.count) { $0 + $1.sockets.values.joined().count }
    }

    // MARK: Publications

    func start(_ publication: WirePublication) {
        guard !isOver else { return refuse(publication) }
        let now = BootTime.now
        if publications.isEmpty {
            (slept, looksAgain) = (BootTime.asleep, now + Self.longestWait)
            takeMachineName()
            monitor.listen(self) { [weak self] in self?.systemChanged() }
            nameWatch = MachineNameWatch(loop: loop) { [weak self] in self?.systemChanged() }
        }
        publications[publication.number] = publication
        noteName()
        wishes[publication.wish, default: 0] += 1
        if wishes[publication.wish] == 1 || system?.isOld(at: now) ?? true { review(at: now) }
        carryOut(publication.registration.publishing(true), publication)
        settle()
    }

    private func refuse(_ publication: WirePublication) {
        let (report, name) = (publication.report, publication.registration.name)
        let error = DiscoveryError(.closed, "the engine was shut down")
        // This may be the thread of whoever publishes, in the call.
        _ = SingleReport { report(PublicationFact(name: name, state: .failed(error))) }
    }

    private func systemChanged() {
        system = nil
        review(at: BootTime.now)
    }

    /// Replaces port and TXT record of an established service, or of one that is tried.
    func update(_ number: UInt64, port: Port?, txt: TXTRecord) {
        guard let publication = publications[number] else { return }
        (publication.service.port, publication.service.txt) = (port ?? publication.service.port, txt)
        guard publication.registration.isRegistered else { return }
        if let error = Self.fault(of: publication) {
            carryOut(publication.registration.failed(error, at: BootTime.now), publication)
        } else {
            for interface in publication.links.keys { claim(publication, on: links[interface], at: BootTime.now) }
        }
        settle()
    }

    /// Ends a publication without goodbyes: another responder of this machine has its records.
    func endQuietly(_ number: UInt64) {
        guard let publication = publications[number] else { return }
        hasCompany = true
        remove(publication, isSaid: false)
        // A turn leaves the host and the links.
        whenSilent.append {}
        settle()
    }

    /// Ends a publication; `done` is called when its goodbyes are sent.
    func end(_ number: UInt64, then done: @escaping () -> Void) {
        if isOver { return done() }
        if let publication = publications[number] { remove(publication) }
        whenSilent.append(done)
        settle()
    }

    /// Ends everything; `done` is called when the goodbyes are sent. Of thousands the first are sent while the others end: a busy machine
    /// may give the process no time for all.
    func endAll(then done: @escaping () -> Void) {
        for (count, publication) in publications.values.sorted(by: { $0.number < $1.number }).enumerated() {
            remove(publication)
            guard count % 200 == 199 else { continue }
            for link in links.values { link.send(&echoes, at: BootTime.now) }
        }
        whenSilent.append { [self] in
            isOver = true
            monitor.free()
            timer.free()
            done()
        }
        turn()
    }

    private func remove(_ publication: WirePublication, isSaid: Bool = true) {
        withdraw(publication, isSaid: isSaid)
        retries.set(publication.number, to: nil)
        publications[publication.number] = nil
        let wish = publication.wish
        wishes[wish] = (wishes[wish] ?? 1) > 1 ? (wishes[wish] ?? 1) - 1 : nil
        isReviewDue = true
    }

    /// Takes the name of this machine from links where nothing is published any more. Other programs that have it would have to say it
    /// again.
    private func leaveHosts() {
        let used = Set(publications.values.flatMap(\.links.keys))
        for link in links.values where !used.contains(link.interface) {
            for id in [ClaimID.host, .firstName] {
                link.responder.withdraw(id, isSaid: !hasCompany, at: BootTime.now)
            }
        }
    }

    // MARK: What registrations decide

    func carryOut(_ actions: [Registration.Action], _ publication: WirePublication) {
        for action in actions {
            switch action {
            case .register: register(publication)
            case .reset: withdraw(publication)
            case .retry(let delay): retries.set(publication.number, to: BootTime.now + delay)
            case .report(let fact):
                if fact.state == .established { retries.set(publication.number, to: nil) }
                publication.report(fact)
            case .end: remove(publication)
            }
        }
    }

    private func register(_ publication: WirePublication) {
        let now = BootTime.now
        if let error = Self.fault(of: publication) ?? ownName(publication) {
            return carryOut(publication.registration.failed(error, at: now), publication)
        }
        carryOut(publication.registration.changed(to: .registering, at: now), publication)
        let wanted = links.values.filter { wants(publication, $0) }
        guard !wanted.isEmpty else { return lacksLinks(publication) }
        for link in wanted {
            publication.links[link.interface] = false
            claim(publication, on: link, isProven: publication.isProven, at: now)
        }
        publication.isProven = false
    }

    func lacksLinks(_ publication: WirePublication) {
        let error = DiscoveryError(.invalidInterface, SystemInterfaces.absence(of: publication.service.interfaces))
        carryOut(publication.registration.failed(error, at: BootTime.now), publication)
    }

    func claim(
        _ publication: WirePublication, on link: ResponderLink?, isProven: Bool = false, at now: Duration
    ) {
        guard let link else { return }
        claimHost(on: link, isProven: isProven, at: now)
        for (id, claim) in publication.claims(link.addresses) {
            link.responder.claim(id, claim, isProven: isProven, at: now)
        }
    }

    func claimHost(on link: ResponderLink, isProven: Bool = false, at now: Duration) {
        guard let name = host.name else { return }
        link.responder.claim(.host, Claim(host: name, link.addresses), isProven: isProven, at: now)
        if let first = host.asked {
            link.responder.claim(.firstName, Claim(host: first, link.addresses), at: now)
        } else {
            link.responder.withdraw(.firstName, at: now)
        }
    }

    private func withdraw(_ publication: WirePublication, isSaid: Bool = true) {
        let now = BootTime.now
        for interface in publication.links.keys {
            links[interface]?.responder.withdraw(.service(publication.number), isSaid: isSaid, at: now)
            links[interface]?.responder.withdraw(.other(publication.number), isSaid: isSaid, at: now)
        }
        publication.links = [:]
    }

    /// Why a service cannot be said in messages of multicast DNS; nil if it can.
    static func fault(of publication: WirePublication) -> DiscoveryError? {
        let claims = publication.claims()
        guard !claims.isEmpty else {
            return DiscoveryError(.invalidServiceName, "\(publication.registration.name) is too long for a name of DNS")
        }
        let proposed = claims.map { (name: $0.claim.name, records: $0.claim.records(host: nil).unique) }
        // Each by itself: what is left out of a packet with others goes in one of its own, unless none can carry it.
        let isTooLong = proposed.contains { ProbePackets.make([$0], wantsUnicast: true, limit: 512).isEmpty }
        guard isTooLong else { return nil }
        let text =
            "the TXT record has \(publication.service.txt.wireSize) bytes; no message can carry it beside the name"
        return DiscoveryError(.invalidTXTRecord, text)
    }

    private func ownName(_ publication: WirePublication) -> DiscoveryError? {
        guard let other = publication.service.host, other.isAnsweredHere,
            let name = try? DomainName(presentation: other.name.text), name == HostLabel(machineName).name
        else { return nil }
        return DiscoveryError(.invalidHostName, "\(other.name) is this machine, which publishes its addresses itself")
    }

    // MARK: What links decide

    /// Passes on what became of claims, until nothing follows from it, and has the next turn come in time.
    func settle() {
        passOn()
        let now = BootTime.now
        takeFirstName(at: now)
        if isReviewDue || !whenSilent.isEmpty, links.values.allSatisfy(\.responder.isSilent) { return timer.set(now) }
        let next =
            links.values.map { $0.responder.deadline(at: now) } + [
                retries.next, publications.isEmpty ? nil : looksAgain, publications.isEmpty ? nil : host.asksAgain,
            ]
        timer.set(next.compactMap(\.self).min())
    }

    private func passOn() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for link in links.values {
                for fact in link.responder.takeFacts() {
                    isQuiet = false
                    if link.responder.isStill(fact) { became(fact, on: link) }
                }
            }
        }
    }

    private func became(_ fact: LinkResponder.Fact, on link: ResponderLink) {
        let now = BootTime.now
        switch fact {
        case .established(.host): if areAllStill(fact) { host.established() }
        case .lost(.host):
            host.lost(at: now)
            claimHosts(at: now)
            sayThatHostIsContested(at: now)
        case .established(.firstName): takeFirstName(at: now)
        case .lost(.firstName):
            host.refused(at: now)
            claimHosts(at: now)
        case .established(let id):
            guard let publication = publication(of: id), publication.id == id else { return }
            publication.links[link.interface] = true
            if publication.isEstablished {
                carryOut(publication.registration.changed(to: .established, at: now), publication)
            }
        case .gaveWay(let id):
            guard let publication = publication(of: id) else { return }
            carryOut(publication.registration.gaveWay(), publication)
        case .lost(let id):
            guard let publication = publication(of: id) else { return }
            if case .other = id, !publication.service.isAlias {
                let name = publication.service.host?.name.text ?? ""
                let error = DiscoveryError(.nameTaken, "another host is called \(name.escapedForTerminal)")
                carryOut(publication.registration.hostIsTaken(error), publication)
            } else {
                carryOut(publication.registration.changed(to: .collision, at: now), publication)
            }
        }
    }

    /// Whether a fact is true on all links where anything is published.
    private func areAllStill(_ fact: LinkResponder.Fact) -> Bool {
        links.values.allSatisfy { $0.responder.isEmpty || $0.responder.isStill(fact) }
    }

    /// Takes the first name once it is established on all links: one that had it not may be gone.
    private func takeFirstName(at now: Duration) {
        let used = links.values.filter { !$0.responder.isEmpty }
        guard host.asked != nil, !used.isEmpty, areAllStill(.established(.firstName)) else { return }
        host.returned(at: now)
        for link in used { link.responder.takeFirstName(at: now) }
    }

    private func noteName() {
        let names = publications.isEmpty ? nil : host.name.map { (name: $0, wanted: host.first ?? $0) }
        nameInUse.withLock {
            $0 = names.map { MulticastEngine.MachineName(name: Self.text($0.name), wanted: Self.text($0.wanted)) }
        }
    }

    /// As services have it; not yet safe for a terminal.
    private static func text(_ name: DomainName) -> String {
        HostName(labels: name.labels)?.text ?? name.presentation
    }

    private func claimHosts(at now: Duration) {
        for link in links.values where !link.responder.isEmpty || link.hasPublications(publications) {
            claimHost(on: link, at: now)
        }
    }

    /// Services that wait for a name of this machine say so: theirs are not contested.
    private func sayThatHostIsContested(at now: Duration) {
        guard host.isContested(for: Registration.contestedAfter, at: now), let first = host.first else { return }
        let text =
            "this machine has no name yet: other hosts have \(Self.text(first).escapedForTerminal) and all that it tried since"
        for publication in publications.values {
            carryOut(publication.registration.hostIsContested(DiscoveryError(.nameTaken, text)), publication)
        }
    }

    private func publication(of id: ClaimID) -> WirePublication? {
        switch id {
        case .host, .firstName: nil
        case .service(let number), .other(let number): publications[number]
        }
    }

    // MARK: A turn

    func turn() {
        let now = BootTime.now
        if looksAgain <= now, !publications.isEmpty {
            looksAgain = now + Self.longestWait
            noticeSuspend(at: now)
            system = nil
            review(at: now)
        }
        for number in retries.due(now) {
            guard let publication = publications[number] else { continue }
            carryOut(publication.registration.retryIsDue(), publication)
        }
        read(at: now)
        if let due = host.asksAgain, due <= now, !publications.isEmpty {
            host.ask()
            claimHosts(at: now)
        }
        let isLeaving = isReviewDue
        if isLeaving { leaveHosts() }
        // Nothing is said of a name that has just been lost.
        passOn()
        for link in links.values { link.send(&echoes, at: now) }
        passOn()
        if links.values.allSatisfy(\.responder.isSilent) {
            if isLeaving, isReviewDue {
                // All is said, of the host, too: this time the links that nobody wants are closed.
                isReviewDue = false
                review(at: now)
            }
            let waiting = whenSilent
            whenSilent = []
            for done in waiting { done() }
        }
        if publications.isEmpty, links.isEmpty {
            monitor.leave(self)
            nameWatch = nil
            noteName()
        }
        settle()
    }

    private func read(at now: Duration) {
        for link in links.values {
            for socket in link.sockets.values.joined() {
                for datagram in socket.receive() { heard(datagram, on: link, socket, at: now) }
            }
        }
        for socket in direct {
            for datagram in socket.receive() {
                let link = links.values.first {
                    $0.interface.index == datagram.interface
                        || $0.addresses.contains { $0.withoutScope == datagram.sender.withoutScope }
                }
                guard let link else { continue }
                heard(datagram, on: link, socket, at: now)
            }
        }
    }

    private func heard(
        _ datagram: LinkSocket.Datagram, on link: ResponderLink, _ socket: LinkSocket, at now: Duration
    ) {
        let (family, share) = (socket.family, socket.share)
        let (source, port) = (datagram.sender.withoutScope, datagram.source.port ?? 0)
        if share.isOwn, port == MessageSource.port, echoes.take(datagram.bytes, on: link.interface, over: family) {
            return
        }
        guard let heard = HeardMessage(datagram.bytes) else { return }
        if share.isOwn, port == MessageSource.port, heard.message.flags.contains(.response) {
            hasCompany = true
            if let first = host.first, heard.message.answers.contains(where: { isOwnAddress($0, of: first, on: link) })
            {
                host.isHadByOwnMachine()
            }
        }
        let arrival = MessageSource(
            family, from: source, port: port, to: share.audience,
            isOnLink: link.isOfNeighbour(source),
            isFromHere: share.isOwn || link.responder.machine.contains(source))
        link.responder.heard(heard.message, arrival, at: now)
    }

    private func isOwnAddress(_ record: ResourceRecord, of name: DomainName, on link: ResponderLink) -> Bool {
        record.ttl > 0 && record.name == name
            && IPAddress(record.data, scope: 0).map(link.responder.machine.contains) ?? false
    }

    private func noticeSuspend(at now: Duration) {
        let asleep = BootTime.asleep
        defer { slept = asleep }
        guard asleep - slept > Self.suspended else { return }
        for link in links.values { link.responder.restart(at: now) }
    }
}

extension ResponderLink {
    fileprivate func hasPublications(_ publications: [UInt64: WirePublication]) -> Bool {
        publications.values.contains { $0.links[interface] != nil }
    }
}

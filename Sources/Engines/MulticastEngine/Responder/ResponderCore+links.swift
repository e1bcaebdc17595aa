import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Records
import Responder

// Links come and go.
extension ResponderCore {
    /// Opens the links that are wanted and closes others. One with goodbyes to send is closed after them, if its interface is up still.
    func review(at now: Duration) {
        let isEnding = isReviewDue
        isReviewDue = false
        let system = self.system.flatMap { $0.isOld(at: now) ? nil : $0 } ?? SystemLinks(at: now)
        self.system = system
        takeMachineName()
        // A VPN's peers are not told what is here, as by avahi-daemon (avahi-daemon.conf(5), allow-point-to-point).
        selection = LinkSelection(system.usable, wishes.keys, toPeers: SystemInterfaces.toPeers())
        let wanted = selection.links
        for link in links.values where wanted[link.interface] == nil {
            let isThere = system.usable.contains { $0.interface == link.interface }
            if isThere, isEnding || !link.responder.isSilent { isReviewDue = true } else { drop(link) }
        }
        listenAlone(!wanted.isEmpty)
        let machine = Set(system.addresses.values.joined().map(\.address))
        for (interface, wish) in wanted {
            let isNew = links[interface] == nil
            let link = links[interface] ?? ResponderLink(interface)
            link.responder.machine = machine
            link.responder.hearsUnicast = !direct.isEmpty
            let isBack = link.use(
                system.addresses[interface] ?? [], families: wish.families,
                isRunning: system.running.contains(interface), loop: loop, at: now
            ) { [weak self] in self?.turn() }
            guard !link.sockets.isEmpty else {
                if !isNew { drop(link) }
                continue
            }
            links[interface] = link
            if isBack { link.responder.restart(at: now) } else { link.repeatRefused(at: now) }
            if !link.responder.isEmpty { claimHost(on: link, at: now) }
            for publication in publications.values
            where publication.service.host?.isAlias == true && publication.links[interface] != nil {
                claim(publication, on: link, at: now)
            }
            if isNew { came(link, at: now) }
        }
        settle()
    }

    func wants(_ publication: WirePublication, _ link: ResponderLink) -> Bool {
        selection.wants(publication.wish, link.key)
    }

    private func came(_ link: ResponderLink, at now: Duration) {
        for publication in publications.values where wants(publication, link) {
            guard publication.registration.isRegistered else {
                carryOut(publication.registration.interfacesChanged(), publication)
                continue
            }
            guard publication.links[link.interface] == nil else { continue }
            publication.links[link.interface] = false
            claim(publication, on: link, at: now)
        }
    }

    private func drop(_ link: ResponderLink) {
        links[link.interface] = nil
        link.close()
        for publication in publications.values where publication.links.removeValue(forKey: link.interface) != nil {
            guard publication.links.isEmpty else {
                if publication.isEstablished {
                    carryOut(publication.registration.changed(to: .established, at: BootTime.now), publication)
                }
                continue
            }
            lacksLinks(publication)
        }
    }

    /// Hears what is said to this machine alone, unless another program does (RFC 6762 §15.1): of several the one that came last gets it.
    private func listenAlone(_ isWanted: Bool) {
        guard isWanted else { return stopListening() }
        guard isAlone() else { return stopListening() }
        guard direct.isEmpty else { return }
        direct = IPAddress.Family.allCases.compactMap { family in
            let socket = try? LinkSocket(on: LinkSocket.anyInterface, family, .direct, for: .responder)
            socket?.watch(by: loop) { [weak self] in self?.turn() }
            return socket
        }
        // Another may have come at the same moment.
        if !isAlone() { stopListening() }
    }

    private func isAlone() -> Bool {
        // Those with which this process asks single hosts are no others (`cmulticast_open_to_host`).
        let bound = (BoundSocket.all(.udp) ?? []).count { $0.port == MessageSource.port && $0.hearsAnyone }
        return bound == direct.count
    }

    private func stopListening() {
        for socket in direct { socket.free() }
        direct = []
    }

    func takeMachineName() {
        let name = Environment.hostLabel ?? Self.noName
        guard name != machineName else { return }
        (machineName, host) = (name, HostLabel(name))
    }
}

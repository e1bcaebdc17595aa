#if Commands
internal import DNSSD
internal import Discovery
internal import DiscoveryDaemon
internal import DiscoverySystem

/// Another link as a gateway's target: services are published there anew, by whoever publishes there. No packet is repeated.
struct LinkMirror: ExportTarget {
    let network: LocalNetwork
    let links: MirrorLinks
    /// Hosts may come from there to these links. Another site's name of a host says nothing here.
    let isOfLink: Bool
    let log: DaemonLog

    /// Gateways of the configured rules.
    /// - Parameter sites: what connects to other sites; nil where no rule names one.
    static func gateways(
        _ rules: [ExportRule], of network: LocalNetwork, _ sites: OtherSites?, _ log: DaemonLog
    ) -> [Gateway] {
        let isBetweenLinks = rules.contains { if case .links = $0.source { true } else { false } }
        if isBetweenLinks, isForwarding == false {
            log.notice("this machine forwards no packets: what is mirrored is reached where another router leads")
        }
        return rules.compactMap { rule in
            guard case .links(let links) = rule.destination else { return nil }
            func mirror(isOfLink: Bool) -> LinkMirror {
                LinkMirror(network: network, links: links, isOfLink: isOfLink, log: log)
            }
            switch rule.source {
            case .links: return Gateway(rule, into: mirror(isOfLink: true), log: log) { network.follow($0) }
            case .peer(let peer): return sites?.gateway(rule, of: peer, into: mirror(isOfLink: false))
            }
        }
    }

    /// Whether the kernel forwards packets of either family (ip-sysctl); nil where /proc does not show it, as under systemd's ProcSubset=pid.
    private static var isForwarding: Bool? {
        let values = ["ipv4/ip_forward", "ipv6/conf/all/forwarding"].compactMap {
            SystemFile.text(of: "/proc/sys/net/\($0)", atMost: 16)
        }
        return values.isEmpty ? nil : values.contains { $0.hasPrefix("1") }
    }

    func publish(_ export: Export) -> any ExportedService { MirroredService(export, self) }

    fileprivate func start(_ export: Export) -> Publication? {
        do throws(DiscoveryError) {
            let service = try links.service(for: export, mayCome: isOfLink)
            let publication = network.publish(service, onConflict: .rename, isPersistent: true)
            follow(publication.updates, of: service)
            return publication
        } catch {
            log.warning("\(export.service.name) is not mirrored: \(error.message)")
            return nil
        }
    }
}

extension LinkMirror {
    /// Logs why a service is not published, when that changes; ends with the publication.
    private func follow(_ updates: PublicationUpdates, of service: OfferedService) {
        Task {
            var told: String?
            for await status in updates {
                switch status.state {
                case .refused(let error), .conflicted(let error), .failed(let error):
                    guard error.message != told else { continue }
                    told = error.message
                    let place = ExportRule.Destination.links(links)
                    log.warning("\(service.name) is not mirrored to \(place): \(error.message)")
                case .waiting, .registering, .established, .withdrawn: continue
                }
            }
        }
    }
}

/// One service of the other link.
private final class MirroredService: ExportedService {
    private enum Wish {
        case nothing
        case change(Export)
        case end(within: Duration)

        mutating func take() -> Wish? {
            guard case .nothing = self else {
                defer { self = .nothing }
                return self
            }
            return nil
        }
    }

    /// What is still to be done: of changes the last, so a service that changes again and again leaves no queue.
    private let wish: Awaited<Wish>
    private let worker: Task<Void, Never>

    init(_ export: Export, _ mirror: LinkMirror) {
        let wish = Awaited(Wish.nothing)
        self.wish = wish
        worker = Task {
            var (export, publication) = (export, mirror.start(export))
            while let next = await wish.wait(for: { $0.take() }) {
                switch next {
                case .nothing: continue
                case .change(let new):
                    let isSame =
                        export.addresses == new.addresses && export.linkHost == new.linkHost
                        && export.service.subtypes == new.service.subtypes
                    export = new
                    if isSame, await publication?.update(port: new.service.port, txt: new.service.txt) == true {
                        continue
                    }
                    // The host's records are those of its services together, so they have to go first.
                    await publication?.withdraw()
                    publication = mirror.start(new)
                case .end(let limit):
                    await publication?.withdraw(waitingAtMost: limit)
                    return
                }
            }
        }
    }

    func change(to export: Export) { wish.change { $0 = .change(export) } }

    func withdraw(within limit: Duration) async {
        wish.change { $0 = .end(within: limit) }
        await worker.value
    }
}
#endif

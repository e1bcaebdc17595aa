#if Commands
internal import DNSSD
internal import Discovery
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import UnicastEngine

/// The zones as a gateway's target.
struct ZoneExports: ExportTarget {
    let engine: UnicastEngine
    /// What the names of hosts begin with.
    let prefix: String
    /// Of the hosts of all that is published.
    let hosts = Locked(HostNumbers())

    func publish(_ export: Export) -> any ExportedService { ZoneExport(export, self) }

    fileprivate func host(_ export: Export, of user: ZoneExport) -> ZoneHost {
        let number = hosts.withLock { $0.number(of: export.linkHost, for: ObjectIdentifier(user)) }
        return ZoneHost(
            identity: Self.identity(of: export.linkHost), label: HostNumbers.label(number, prefix),
            addresses: Set(export.addresses))
    }

    /// Without regard to ASCII case, as DNS compares names (RFC 4343), and in ASCII: texts of other bytes may be equal to Swift, and one host
    /// would get the addresses of another.
    static func identity(of host: HostName) -> String {
        host.text.utf8.map { byte in
            byte < 0x80 ? String(Unicode.Scalar(byte)).lowercased() : "\\x\(String(byte, radix: 16))"
        }.joined()
    }

    fileprivate func start(_ export: Export, of user: ZoneExport) -> any PublicationOperation {
        // Persistent: what another gateway of the link publishes is waited for, until its lease has ended.
        engine.publish(export.service, on: host(export, of: user), onConflict: .fail, isPersistent: true) { _ in }
    }
}

/// One service of the link in a zone.
private final class ZoneExport: ExportedService {
    private struct State {
        var export: Export
        /// Nil until it begins.
        var operation: (any PublicationOperation)?
    }

    private let zones: ZoneExports
    private let state: Locked<State>

    init(_ export: Export, _ zones: ZoneExports) {
        self.zones = zones
        state = Locked(State(export: export))
        state.withLock { $0.operation = zones.start(export, of: self) }
    }

    func change(to export: Export) {
        let old = state.withLock { state -> (any PublicationOperation)? in
            let before = state.export
            state.export = export
            var same = before.service
            same.txt = export.service.txt
            if same == export.service, before.linkHost == export.linkHost {
                if before.addresses != export.addresses {
                    zones.engine.became(zones.host(export, of: self), in: export.service.domain)
                }
                if before.service.txt == export.service.txt || state.operation?.update(txt: export.service.txt) == true
                {
                    return nil
                }
            }
            let old = state.operation
            state.operation = zones.start(export, of: self)
            return old
        }
        // Another port or host: the name is free for it when this is gone.
        old?.cancel()
    }

    func withdraw(within limit: Duration) async {
        await state.withLock { $0.operation }?.cancel(waitingAtMost: limit)
        // The zone has it no more: another host may be called so.
        zones.hosts.withLock { $0.release(ObjectIdentifier(self)) }
    }
}
#endif

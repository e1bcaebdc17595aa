public import AppSupport
import CommandFrame
public import DNSSD
public import DiscoveryTLS
import PeerIdentity

extension App {
    /// Warns before a service is dialled that announces another key than the one that is known. The handshake decides.
    public func warn(of service: DiscoveredService, _ tls: PeerTLS) {
        guard let hint = KeyHint(service.txt), let known = try? tls.known.read(),
            let warning = hint.warning(of: .service(service.instance), known)
        else { return }
        notices.notice(warning)
    }
}

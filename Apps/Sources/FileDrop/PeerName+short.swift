import DNSSD
import PeerIdentity

extension PeerName {
    /// For lines that say from whom something came; must be escaped before printing, but for a label.
    var shortText: String {
        switch self {
        case .label: String(text.dropFirst())
        case .service(let instance): instance.name.text
        case .host(let host): host.text
        }
    }
}

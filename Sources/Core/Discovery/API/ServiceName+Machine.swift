public import DNSSD
import DiscoveryPOSIX

extension ServiceName {
    /// This machine's name, the default for its services: its host name up to the first dot (gethostname(2)), or
    /// `linux` if that cannot be published.
    public static func ofThisMachine() -> ServiceName {
        guard let label = Environment.hostLabel, let name = try? ServiceName(label) else {
            return ServiceName(observed: "linux")
        }
        return name
    }
}

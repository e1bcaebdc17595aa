public import DNSSD
import System

extension ServiceName {
    /// The name of this machine, under which it publishes what has no name of its own: its host name up to the first dot
    /// (gethostname(2)); `linux` when it has none that can be published.
    public static func ofThisMachine() -> ServiceName {
        guard let label = Environment.hostLabel, let name = try? ServiceName(label) else {
            return ServiceName(observed: "linux")
        }
        return name
    }
}

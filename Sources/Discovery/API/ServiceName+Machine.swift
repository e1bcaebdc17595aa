public import DNSSD

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

extension ServiceName {
    /// The name of this machine, under which it publishes what has no name of its own: its host name up to the first dot
    /// (gethostname(2)); `linux` when it has none that can be published.
    public static func ofThisMachine() -> ServiceName {
        // HOST_NAME_MAX is 64; the last byte stays 0, since a name that is cut need not end with one.
        var buffer = [CChar](repeating: 0, count: 256)
        let code = unsafe gethostname(&buffer, buffer.count - 1)
        let label = buffer.map(UInt8.init(bitPattern:)).prefix { $0 != 0 && $0 != UInt8(ascii: ".") }
        guard code == 0, let text = String(validating: label, as: UTF8.self), let name = try? ServiceName(text) else {
            return ServiceName(observed: "linux")
        }
        return name
    }
}

#if Commands
internal import CommandFrame
internal import Glibc

/// Whether the system D-Bus can be reached, over which avahi-daemon is asked.
enum BusCheck {
    static func run() -> Finding {
        let address = environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        guard let path = socketPath(in: address) else {
            return Finding("dbus", .warn, "the bus is at \(address), which is not a socket's path and is not checked")
        }
        let code = connectCode(to: path)
        guard code != 0 else { return Finding("dbus", .ok, "the system bus answers at \(path)") }
        return Finding(
            "dbus",
            .fail,
            "the system bus cannot be reached at \(path): \(systemMessage(code))",
            advice: "Install it (apt install dbus) and start it (systemctl start dbus)."
        )
    }

    private static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    private static func socketPath(in address: String) -> String? {
        for part in address.split(separator: ";").first?.split(separator: ",") ?? [] where part.hasPrefix("unix:path=")
        {
            return String(part.dropFirst("unix:path=".count))
        }
        return nil
    }

    /// The `errno` of connecting, or 0.
    private static func connectCode(to path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity else { return ENAMETOOLONG }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? 0 : errno
    }
}
#endif

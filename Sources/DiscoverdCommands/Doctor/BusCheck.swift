#if Commands
internal import CommandFrame
internal import Libc
internal import DiscoverySystem

/// Whether the system D-Bus, through which avahi-daemon is asked, can be reached.
enum BusCheck {
    static func run() -> Finding {
        let address = Environment.value("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
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

    private static func socketPath(in address: String) -> String? {
        for part in address.split(separator: ";").first?.split(separator: ",") ?? [] where part.hasPrefix("unix:path=")
        {
            return String(part.dropFirst("unix:path=".count))
        }
        return nil
    }

    /// The `errno` of a connection attempt, or 0.
    private static func connectCode(to path: String) -> Int32 {
        guard let address = SocketAddress(unix: Array(path.utf8)) else { return ENAMETOOLONG }
        do throws(SystemError) {
            close(try Sockets.connected(to: address, waits: true))
            return 0
        } catch {
            return error.code
        }
    }
}
#endif

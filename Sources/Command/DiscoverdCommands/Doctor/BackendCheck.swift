#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc

/// Whether avahi-daemon answers.
enum BackendCheck {
    static func run(in session: Session) async throws -> CheckResult {
        let states = session.network.backendStates()
        // The last reason reported; empty if there was none.
        let last = await withTimeLimit(Invocation.Patience.system.absence) { () -> String? in
            var last = ""
            var iterator = states.makeAsyncIterator()
            while !Task.isCancelled, let state = try? await iterator.next() {
                guard let reason = state.reason else { return nil }
                last = reason
            }
            return last
        }
        guard let last else { return CheckResult("avahi", .ok, "avahi-daemon answers") }
        let reason = last.isEmpty ? "it did not answer within \(Invocation.Patience.system.absence.inSeconds) s" : last
        return absent(reason, holders: PortHolder.holders(of: PortHolder.multicastDNS))
    }

    /// Why there is no answer, and what to do. If avahi-daemon runs but is silent, installing it is no advice.
    /// - Parameter holders: processes that listen on UDP 5353.
    static func absent(_ reason: String, holders: [PortHolder]) -> CheckResult {
        if let own = holders.first(where: \.isPrivate) {
            return CheckResult(
                "avahi", .warn,
                "the system has none that answers (\(reason)); discoverd's commands share a private one, \(own)",
                advice: "It serves them alone. For other programs install avahi-daemon and start it.")
        }
        if let hung = holders.first(where: { $0.name == "avahi-daemon" }) {
            return CheckResult(
                "avahi", .fail, "\(hung) runs and does not answer: \(reason)",
                advice: "Restart it: systemctl restart avahi-daemon.")
        }
        return CheckResult(
            "avahi",
            .fail,
            "no answer from avahi-daemon: \(reason)",
            advice: "Install it (apt install avahi-daemon) and start it (systemctl start avahi-daemon)."
        )
    }
}

/// Whether the system D-Bus, through which avahi-daemon is asked, can be reached.
enum BusCheck {
    static func run() -> CheckResult {
        let address = Environment.value("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        guard let path = socketPath(in: address) else {
            return CheckResult(
                "dbus", .warn, "the bus is at \(address), which is not a socket's path and is not checked")
        }
        let code = connectCode(to: path)
        guard code != 0 else { return CheckResult("dbus", .ok, "the system bus answers at \(path)") }
        return CheckResult(
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

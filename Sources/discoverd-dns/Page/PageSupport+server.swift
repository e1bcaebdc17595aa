#if Commands
import CommandFrame
import DNSSD
import DiscoverdCommands
import DiscoveryDaemon
import DiscoverySystem

extension PageSupport {
    /// On a server of its own, with the parts of the daemon's.
    static var server: PageSupport {
        PageSupport { source, port, serving in
            let socket: Int32
            do {
                let loopback = IPAddress.v4(IPv4Address(bits: 0x7F00_0001))
                socket = try Sockets.listening(at: SocketAddress(loopback, port: port), backlog: 16)
            } catch {
                throw CommandError(.systemError, "cannot listen at 127.0.0.1 port \(port): \(error)")
            }
            let page = PageServer(
                PageServer.Source(
                    network: source.network, finder: source.finder, version: DiscoverdVersion.current,
                    daemon: source.daemon, doctor: DoctorRun.lines))
            let url = "http://127.0.0.1:\(SocketAddress(of: socket)?.port ?? port)/#\(page.token)"
            do {
                try await page.run(socket) { await serving(url) }
            } catch {
                throw CommandError(.systemError, "the page cannot be served: \(error)")
            }
        }
    }
}
#endif

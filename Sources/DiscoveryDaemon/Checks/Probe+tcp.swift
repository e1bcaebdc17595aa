internal import DNSSD
internal import DiscoverySystem
internal import Libc

extension Probe {
    /// Connects to a port of this machine, over IPv4 or IPv6, and closes.
    func tcp(_ port: Port) async throws(ProbeFailure) {
        close(try await connect(to: port))
    }

    /// - Returns: a connected, non-blocking descriptor, which the caller closes.
    func connect(to port: Port) async throws(ProbeFailure) -> Int32 {
        do {
            return try await connect(to: port, at: .v4(IPv4Address(bits: 0x7F00_0001)))
        } catch {
            // A server may listen on ::1 alone. What the first attempt said is of interest when that fails too.
            guard let descriptor = try? await connect(to: port, at: .v6(IPv6Address(high: 0, low: 1), scope: 0)) else {
                throw error
            }
            return descriptor
        }
    }

    private func connect(to port: Port, at address: IPAddress) async throws(ProbeFailure) -> Int32 {
        let address = SocketAddress(address, port: port.rawValue)
        guard let descriptor = try? Sockets.make(address.family) else { throw ProbeFailure("no socket", code: errno) }
        do throws(ProbeFailure) {
            let what = "port \(port) on this machine"
            if address.connect(descriptor) == -1 {
                guard errno == EINPROGRESS else { throw ProbeFailure(what, code: errno) }
                try await wait(for: descriptor, POLLOUT)
                let code = Sockets.pendingError(of: descriptor)
                guard code == 0 else { throw ProbeFailure(what, code: code) }
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }
}

internal import DNSSD
internal import Glibc

extension Probe {
    /// Connects to a port of this machine, over IPv4 or IPv6, and closes.
    func tcp(_ port: Port) async throws(ProbeFailure) {
        close(try await connect(to: port))
    }

    /// - Returns: a connected, non-blocking descriptor, which the caller closes.
    func connect(to port: Port) async throws(ProbeFailure) -> Int32 {
        do {
            return try await connect(to: port, AF_INET)
        } catch {
            // A server may listen on ::1 alone. What the first attempt said is of interest when that fails too.
            guard let descriptor = try? await connect(to: port, AF_INET6) else { throw error }
            return descriptor
        }
    }

    private func connect(to port: Port, _ family: Int32) async throws(ProbeFailure) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw ProbeFailure("no socket", code: errno) }
        do throws(ProbeFailure) {
            let what = "port \(port) on this machine"
            if Self.startConnecting(descriptor, to: port, family) == -1 {
                guard errno == EINPROGRESS else { throw ProbeFailure(what, code: errno) }
                try await wait(for: descriptor, POLLOUT)
                let code = Self.error(of: descriptor)
                guard code == 0 else { throw ProbeFailure(what, code: code) }
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func startConnecting(_ descriptor: Int32, to port: Port, _ family: Int32) -> Int32 {
        if family == AF_INET {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.rawValue.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return connect(descriptor, &address)
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.rawValue.bigEndian
        unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0[15] = 1 }
        return connect(descriptor, &address)
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    private static func error(of descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
    }
}

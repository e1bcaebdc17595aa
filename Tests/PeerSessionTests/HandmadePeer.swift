import Foundation
import Glibc
import PeerSession

/// A peer made of two sockets on 127.0.0.1, which says whatever a test wants. Waits for at most 10 s.
final class HandmadePeer {
    struct Silence: Error {}

    let udpPort: UInt16
    private let tcp: Int32
    private let udp: Int32
    private var decoder = FrameDecoder()
    private var frames: [Frame] = []

    init(to port: UInt16) throws {
        tcp = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        udp = Self.datagramSocket(at: 0x7F00_0001)
        udpPort = Self.port(of: udp)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        for descriptor in [tcp, udp] {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard Self.withAddress(0x7F00_0001, port, { connect(tcp, $0, $1) }) == 0 else { throw Silence() }
    }

    deinit {
        close(tcp)
        close(udp)
    }

    /// Ends the connection without a goodbye when this peer is freed.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(tcp, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    func say(_ frame: Frame) { _ = Glibc.send(tcp, frame.bytes, frame.bytes.count, Int32(MSG_NOSIGNAL)) }

    /// The next frame other than a ping.
    func frame() throws -> Frame {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            while let frame = frames.first {
                frames.removeFirst()
                if case .ping = frame { continue }
                return frame
            }
            let count = recv(tcp, &buffer, buffer.count, 0)
            guard count > 0 else { throw Silence() }
            frames += try decoder.received(buffer.prefix(count))
        }
    }

    /// The next datagram.
    func datagram() throws -> SessionDatagram {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(udp, &buffer, buffer.count, 0)
        guard count > 0, let datagram = SessionDatagram(buffer.prefix(count)) else { throw Silence() }
        return datagram
    }

    /// Sends bytes as a datagram; with `address`, from another socket at that loopback address.
    func send(_ bytes: [UInt8], to port: UInt16, from address: UInt32? = nil) {
        let descriptor = address.map { Self.datagramSocket(at: $0) } ?? udp
        _ = Self.withAddress(0x7F00_0001, port) { sendto(descriptor, bytes, bytes.count, 0, $0, $1) }
        if descriptor != udp { close(descriptor) }
    }

    private static func datagramSocket(at address: UInt32) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        _ = withAddress(address, 0) { bind(descriptor, $0, $1) }
        return descriptor
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func withAddress<R>(
        _ address: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) -> R {
        var socketAddress = sockaddr_in()
        socketAddress.sin_family = sa_family_t(AF_INET)
        socketAddress.sin_port = port.bigEndian
        socketAddress.sin_addr.s_addr = address.bigEndian
        return withUnsafePointer(to: &socketAddress) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

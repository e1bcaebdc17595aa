import DNSSD
import DiscoverySystem
import Libc
import NIOCore
import NIOPosix

extension ServerAddress: CustomStringConvertible {
    /// The address, with the port unless it is 53: `10.53.0.53`, `10.53.0.53:5353` or `[fd00::53]:5353`.
    package var description: String {
        let text = address.text(scopedTo: nil)
        if port.rawValue == 53 { return text }
        return address.family == .ipv6 ? "[\(text)]:\(port)" : "\(text):\(port)"
    }

    /// Calls `body` with the address in the form of system calls, including the scope of a link-local address.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        unsafe SocketAddress(address, port: port.rawValue).withPointer { pointer, _ in unsafe body(pointer) }
    }
}

extension NIOCore.SocketAddress {
    /// Creates the socket address of a server, including the scope of a link-local one.
    init(_ server: ServerAddress) {
        self = unsafe server.withSocketAddress { pointer in
            let raw = unsafe UnsafeRawPointer(pointer)
            return switch server.address.family {
            case .ipv4: unsafe SocketAddress(raw.loadUnaligned(as: sockaddr_in.self))
            case .ipv6: unsafe SocketAddress(raw.loadUnaligned(as: sockaddr_in6.self))
            }
        }
    }
}

extension DNSFailure {
    /// Returns why a message did not reach a server, for people.
    static func reason(_ error: any Error) -> String {
        switch error {
        case is DNSStream.Ended: "it closed the connection"
        case let error as IOError: SystemError.text(error.errnoCode)
        case let error as NIOConnectionError: error.connectionErrors.first.map { reason($0.error) } ?? "no connection"
        case ChannelError.connectTimeout: "no answer"
        default: "\(error)"
        }
    }

    /// Returns whether the system has no more descriptors or memory.
    static func isOfSystem(_ error: any Error) -> Bool {
        [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains((error as? IOError)?.errnoCode)
    }
}

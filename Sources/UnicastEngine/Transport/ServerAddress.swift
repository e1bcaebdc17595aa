import DNSSD
import Glibc
import System

extension ServerAddress: CustomStringConvertible {
    /// `10.53.0.53`, with the port where it is not DNS's own.
    package var description: String {
        let text = address.text(scopedTo: nil)
        if port.rawValue == 53 { return text }
        return address.family == .ipv6 ? "[\(text)]:\(port)" : "\(text):\(port)"
    }

    /// Lends it as system calls take it, with the scope of a link-local address.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        unsafe SocketAddress(address, port: port.rawValue).withPointer { pointer, _ in unsafe body(pointer) }
    }
}

import DNSSD
import DiscoverySystem
import Libc

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

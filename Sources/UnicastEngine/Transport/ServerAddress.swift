import DNSSD
import Glibc
import System

extension ServerAddress: CustomStringConvertible {
    /// The address, and the port where it is not DNS's own.
    package var description: String {
        port.rawValue == 53 ? address.text(scopedTo: nil) : "\(address.text(scopedTo: nil)) port \(port)"
    }

    /// Lends it as system calls take it, with the scope of a link-local address.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        unsafe SocketAddress(address, port: port.rawValue).withPointer { pointer, _ in unsafe body(pointer) }
    }
}

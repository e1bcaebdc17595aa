import DNSSD
import Foundation
import Libc

extension Endpoint {
    /// The address as `sockaddr_in` or `sockaddr_in6` for connect(2), with the scope of a link-local one.
    var socketAddress: Data {
        switch address {
        case .v4(let address):
            var value = sockaddr_in()
            value.sin_family = sa_family_t(AF_INET)
            value.sin_port = port.rawValue.bigEndian
            value.sin_addr.s_addr = address.bits.bigEndian
            return withUnsafeBytes(of: value) { Data($0) }
        case .v6(let address, let scope):
            var value = sockaddr_in6()
            value.sin6_family = sa_family_t(AF_INET6)
            value.sin6_port = port.rawValue.bigEndian
            value.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &value.sin6_addr) { bytes in
                bytes.storeBytes(of: address.high.bigEndian, as: UInt64.self)
                bytes.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return withUnsafeBytes(of: value) { Data($0) }
        }
    }
}

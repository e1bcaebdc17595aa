import CMulticast
import DNSSD
import Libc

/// The group of multicast DNS (RFC 6762 §3), of one family on one interface.
struct MulticastGroup {
    let family: IPAddress.Family
    let interface: UInt32

    /// Sends a packet to it.
    /// - Returns: 0 or errno. The system refuses packets while an address is tentative or the link is going away.
    func send(_ packet: [UInt8], by descriptor: Int32) -> Int32 {
        unsafe packet.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            return unsafe -cmulticast_send(
                descriptor, family.number, interface, start, Int32(clamping: bytes.count))
        }
    }
}

extension IPAddress.Family {
    /// AF_INET or AF_INET6.
    var number: Int32 { self == .ipv4 ? AF_INET : AF_INET6 }
}

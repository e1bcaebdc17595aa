package import DNSSD

/// The sender of a packet as a number of two bytes, because thousands of records hold one. Senders may share a number.
package struct PacketSource: Hashable, Sendable {
    /// The source of answers to one-shot questions.
    package static let asked = PacketSource(0)

    package let number: UInt16

    init(number: UInt16) { self.number = number }

    /// - Parameter address: the source address, or a number derived from it.
    package init(_ address: UInt32) { number = UInt16(truncatingIfNeeded: address.hashValue) }

    /// The sender with this address; the same as of the bytes of a socket's address (`cmulticast_receive`).
    package init(_ address: IPAddress) {
        switch address {
        case .v4(let address): self.init(address.bits.bigEndian)
        case .v6(let address, _):
            let halves = address.high ^ address.low
            self.init((UInt32(truncatingIfNeeded: halves >> 32) ^ UInt32(truncatingIfNeeded: halves)).bigEndian)
        }
    }
}

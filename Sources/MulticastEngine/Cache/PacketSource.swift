/// Who sent a packet, in two bytes: thousands of records hold it. Senders may share a number.
package struct PacketSource: Hashable, Sendable {
    /// Answers to one-shot questions.
    package static let asked = PacketSource(0)

    private let number: UInt16

    /// - Parameter address: the source address, or a number made of it.
    package init(_ address: UInt32) { number = UInt16(truncatingIfNeeded: address.hashValue) }
}

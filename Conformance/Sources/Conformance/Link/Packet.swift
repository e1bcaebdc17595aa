package import DNSMessage
package import DNSSD

/// A datagram on the link, with all that a judge may ask of it. A value.
package struct Packet: Sendable {
    /// An end of it.
    package struct End: Hashable, Sendable {
        package var hardware: [UInt8]
        package var address: IPAddress
        package var port: UInt16

        package init(hardware: [UInt8], address: IPAddress, port: UInt16) {
            (self.hardware, self.address, self.port) = (hardware, address, port)
        }
    }

    /// Seconds of the medium's clock.
    package var at: Double
    package var source: End
    package var destination: End
    /// The TTL of IPv4, the hop limit of IPv6.
    package var hops: UInt8
    /// The bytes of the largest packet of IP in which it came, and how many there were.
    package var largest: Int
    package var fragments: Int
    package var bytes: [UInt8]
    /// On which of the links it was seen.
    package var link: Int
    /// A simulated host sent it.
    package var isOurs: Bool
    /// Nil if the bytes are no whole message.
    package let message: Message?

    package init(
        at: Double, from source: End, to destination: End, hops: UInt8 = 255, largest: Int = 0, fragments: Int = 1,
        bytes: [UInt8], link: Int = 0, isOurs: Bool = false
    ) {
        (self.at, self.source, self.destination, self.hops) = (at, source, destination, hops)
        (self.largest, self.fragments, self.bytes, self.isOurs) = (largest, fragments, bytes, isOurs)
        self.link = link
        message = try? Message(reading: bytes)
    }

    package var family: IPAddress.Family { source.address.family }
    package var isToGroup: Bool { destination.address.isMulticast }
    package var isResponse: Bool { message?.flags.contains(.response) ?? false }
    package var isQuery: Bool { message.map { !$0.flags.contains(.response) } ?? false }
    /// RFC 6762 §8.1: a question, and what is proposed for it.
    package var isProbe: Bool { isQuery && !(message?.authorities.isEmpty ?? true) }
    package var answers: [ResourceRecord] { message?.answers ?? [] }
    /// Answers and what goes along.
    package var records: [ResourceRecord] { (message?.answers ?? []) + (message?.additionals ?? []) }
    package var questions: [Question] { message?.questions ?? [] }
    package var proposed: [ResourceRecord] { message?.authorities ?? [] }

    /// Whether it probes for a name.
    package func probes(for name: DomainName) -> Bool { isProbe && questions.contains { $0.name == name } }
}

/// A host that the suite plays: the addresses from which it speaks.
package struct Station: Hashable, Sendable {
    package var hardware: [UInt8]
    package var v4: IPAddress
    package var v6: IPAddress

    package static let one = Station(number: 1)
    package static let two = Station(number: 2)
    package static let three = Station(number: 3)
    /// Its addresses belong to another link.
    package static let far = Station(
        hardware: [2, 0x77, 0, 0, 0, 99], v4: .v4(IPv4Address(bits: 0x0A63_0009)),
        v6: .v6(IPv6Address(high: 0x2001_0DB8_0099_0000, low: 9), scope: 0))

    init(hardware: [UInt8], v4: IPAddress, v6: IPAddress) { (self.hardware, self.v4, self.v6) = (hardware, v4, v6) }

    init(number: UInt8) {
        self.init(
            hardware: [2, 0x77, 0, 0, 0, number], v4: .v4(IPv4Address(bits: 0x0A4D_0064 + UInt32(number))),
            v6: .v6(IPv6Address(high: 0xFE80 << 48, low: 0x7700 + UInt64(number)), scope: 0))
    }

    package static let all = [one, two, three, far]

    package func address(_ family: IPAddress.Family) -> IPAddress { family == .ipv4 ? v4 : v6 }
}

/// The group of multicast DNS (RFC 6762 §3).
package enum Group {
    package static let port: UInt16 = 5353
    package static let v4 = IPAddress.v4(IPv4Address(bits: 0xE000_00FB))
    package static let v6 = IPAddress.v6(IPv6Address(high: 0xFF02 << 48, low: 0xFB), scope: 0)

    package static func end(_ family: IPAddress.Family, port: UInt16 = port) -> Packet.End {
        family == .ipv4
            ? Packet.End(hardware: [1, 0, 0x5E, 0, 0, 0xFB], address: v4, port: port)
            : Packet.End(hardware: [0x33, 0x33, 0, 0, 0, 0xFB], address: v6, port: port)
    }
}

/// A link, real or in virtual time.
package protocol Medium: AnyObject {
    /// Seconds.
    var now: Double { get }
    func send(_ packet: Packet) throws
    /// The next datagram that others sent, or nil when it is `time`.
    func next(until time: Double) throws -> Packet?
}

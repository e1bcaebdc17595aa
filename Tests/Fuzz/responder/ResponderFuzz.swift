import DNSMessage
import DNSSD

// libFuzzer's target: any packets at any times, of hosts on the link and off it, for a `LinkResponder` that holds a few services. It never
// says more than it may, grows no further than it may, gives up only names that were denied, and then answers for the rest. Run by `make
// fuzz`.
//
// An input is a byte that says what is published, and steps of five bytes and a packet: what happens, from which host, after which time, and
// how many bytes follow (`seeds` writes such inputs).

/// Tests one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var input = FuzzInput(bytes: Array(UnsafeBufferPointer(start: data, count: count)))
    var link = FuzzedLink(FuzzedLink.Setup(rawValue: input.byte()))
    while let step = input.step() { link.take(step) }
    link.end()
    return 0
}

struct FuzzInput {
    /// A packet, and what comes before it.
    struct Step {
        let change: Change?
        let gap: Duration
        let arrival: MessageSource
        let packet: [UInt8]
    }

    /// What programs and the system do.
    enum Change: UInt8 {
        case update = 12
        case restart, families, again
    }

    let bytes: [UInt8]
    private var next = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func byte() -> UInt8 {
        defer { next += 1 }
        return next < bytes.count ? bytes[next] : 0
    }

    mutating func step() -> Step? {
        guard next < bytes.count else { return nil }
        let (kind, host, wait) = (byte(), byte(), Int(byte()))
        let length = Int(byte()) << 8 | Int(byte())
        let packet = Array(bytes.dropFirst(next).prefix(length))
        next += packet.count
        return Step(
            change: Change(rawValue: kind >> 4), gap: .milliseconds(wait * wait / 16),
            arrival: Self.arrival(kind, host),
            packet: packet)
    }

    /// To the group, to this machine alone, or from another port; over either family; from a host of the link, this one, or one elsewhere.
    private static func arrival(_ kind: UInt8, _ host: UInt8) -> MessageSource {
        let isElsewhere = kind & 8 != 0
        let family: IPAddress.Family = kind & 4 == 0 ? .ipv4 : .ipv6
        let address: IPAddress =
            switch family {
            case .ipv4: .v4(IPv4Address(bits: (isElsewhere ? 0xC000_0200 : 0x0A00_0000) | UInt32(host)))
            case .ipv6:
                .v6(IPv6Address(high: isElsewhere ? 0x2001_0DB8 << 32 : 0xFE80 << 48, low: UInt64(host)), scope: 0)
            }
        return MessageSource(
            family, from: address, port: kind & 3 == 3 ? 40000 + UInt16(host) : MessageSource.port,
            to: kind & 3 == 2 || kind & 3 == 3 && host & 1 == 1
                ? .machine : kind & 16 == 0 ? .group : .groupInOneFrame,
            isOnLink: !isElsewhere,
            isFromHere: FuzzedLink.machine.contains(address))
    }
}

/// Random numbers that an input repeats.
struct FuzzRandom: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 33
    }
}

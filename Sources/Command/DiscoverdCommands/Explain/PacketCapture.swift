#if Commands
internal import CommandFrame
internal import DNSSD
internal import Libc
internal import MulticastEngine
internal import DiscoverySystem

/// Packets in the format of pcapng (draft-ietf-opsawg-pcapng), one interface block for each link. A value.
///
/// The sockets give no headers: those of IP and UDP are made of what the system says of each packet.
struct PacketCapture {
    /// LINKTYPE_LINUX_SLL: a packet begins with what Linux says of it. With LINKTYPE_RAW, libpcap refuses a second interface: it compares that
    /// number with its own for the first, which is another (1.10.3, sf-pcapng.c).
    private static let linkType: UInt16 = 113
    /// The longest packet, headers included.
    private static let snapLength: UInt32 = 65535
    /// The longest file: hostile hosts may send much.
    private static let limit = 16 << 20

    private(set) var bytes: [UInt8] = []
    private var interfaces: [NetworkInterface] = []

    init() {
        // Little-endian, version 1.0, of unknown length.
        block(
            0x0A0D_0D0A,
            [
                Self.low(0x1A2B_3C4D as UInt32), Self.low(UInt16(1)), Self.low(UInt16(0)),
                [UInt8](repeating: 0xFF, count: 8),
            ])
    }

    /// Adds a packet, at microseconds since 1970; nothing when the capture is full.
    mutating func add(_ packet: LinkInquiry.Packet, at time: UInt64) {
        guard bytes.count < Self.limit, let headed = Self.headed(packet) else { return }
        let data = Self.cooked(packet) + headed
        if !interfaces.contains(packet.interface) {
            interfaces.append(packet.interface)
            let name = Array(packet.interface.name.utf8)
            // if_name, and the end of the options.
            let head = [Self.low(Self.linkType), Self.low(UInt16(0)), Self.low(Self.snapLength)]
            let option = [Self.low(UInt16(2)), Self.low(UInt16(clamping: name.count)), Self.padded(name)]
            block(1, head + option + [Self.low(UInt32(0))])
        }
        let place = UInt32(interfaces.firstIndex(of: packet.interface) ?? 0)
        let length = Self.low(UInt32(data.count))
        // epb_flags: 1 inbound, 2 outbound.
        let flags = Self.low(UInt16(2)) + Self.low(UInt16(4)) + Self.low(UInt32(packet.direction == .sent ? 2 : 1))
        let head = [place, UInt32(truncatingIfNeeded: time >> 32), UInt32(truncatingIfNeeded: time)].map(Self.low)
        block(6, head + [length, length, Self.padded(data), flags, Self.low(UInt32(0))])
    }

    private mutating func block(_ type: UInt32, _ parts: [[UInt8]]) {
        let length = Self.low(UInt32(clamping: parts.reduce(12) { $0 + $1.count }))
        for part in [Self.low(type), length] + parts + [length] { bytes += part }
    }

    /// The header of LINKTYPE_LINUX_SLL: the destination's kind, Ethernet without an address, and the protocol.
    private static func cooked(_ packet: LinkInquiry.Packet) -> [UInt8] {
        let kind: UInt16 = packet.direction == .sent ? 4 : packet.destination.isMulticast ? 2 : 0
        let ethernet: UInt16 = 1
        return high(kind) + high(ethernet) + [UInt8](repeating: 0, count: 10)
            + high(packet.destination.family == .ipv4 ? 0x0800 : 0x86DD)
    }

    /// The packet with its headers; nil where it cannot be a packet.
    private static func headed(_ packet: LinkInquiry.Packet) -> [UInt8]? {
        guard let length = UInt16(exactly: packet.bytes.count + 8), length < UInt16.max - 56 else { return nil }
        let ports = [packet.sourcePort, packet.destinationPort, length].flatMap(high)
        switch (packet.source, packet.destination) {
        case (.v4(let source), .v4(let destination)):
            var header: [UInt8] = [0x45, 0] + high(length + 20)
            header += [0, 0, 0x40, 0, packet.hops, 17, 0, 0]
            header += source.bytes + destination.bytes
            header.replaceSubrange(10..<12, with: high(checksum(header)))
            // No checksum (RFC 768).
            header += ports + [0, 0]
            return header + packet.bytes
        case (.v6(let source, _), .v6(let destination, _)):
            let addresses = Array(source.bytes) + destination.bytes
            var summed = addresses
            for part in [[0, 0], high(length), [0, 0, 0, 17], ports, [0, 0], packet.bytes] { summed += part }
            let sum = checksum(summed)
            var header: [UInt8] = [0x60, 0, 0, 0] + high(length)
            header += [17, packet.hops] + addresses
            return header + ports + high(sum == 0 ? 0xFFFF : sum) + packet.bytes
        default: return nil
        }
    }

    /// RFC 1071.
    private static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for (position, byte) in bytes.enumerated() { sum += UInt32(byte) << (position % 2 == 0 ? 8 : 0) }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return ~UInt16(truncatingIfNeeded: sum)
    }

    private static func high(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    private static func low(_ value: UInt16) -> [UInt8] { high(value).reversed() }

    private static func low(_ value: UInt32) -> [UInt8] {
        low(UInt16(truncatingIfNeeded: value)) + low(UInt16(truncatingIfNeeded: value >> 16))
    }

    /// To a multiple of four bytes.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}

/// A new file of packets, which is there once it is whole.
final class PacketCaptureFile: Sendable {
    private let capture = Locked(PacketCapture())
    private let path: String

    /// - Throws: where there is something of this name already, which is not followed, or no file can be made.
    init(_ path: String) throws(CommandError) {
        self.path = path
        do throws(SystemError) {
            try SystemFile.requireAbsent(path)
        } catch {
            throw Self.failure(path, error)
        }
    }

    func add(_ packet: LinkInquiry.Packet) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let time = UInt64(clamping: now.tv_sec) * 1_000_000 + UInt64(clamping: now.tv_nsec / 1000)
        capture.withLock { $0.add(packet, at: time) }
    }

    /// Writes what has come; replaces nothing, and leaves nothing where that fails.
    /// - Returns: why it cannot be written.
    func finish() -> CommandError? {
        do throws(SystemError) {
            try SystemFile.create(path, with: capture.withLock { $0.bytes })
            return nil
        } catch {
            return Self.failure(path, error)
        }
    }

    private static func failure(_ path: String, _ error: SystemError) -> CommandError {
        CommandError(.ioError, "cannot write \(path.escapedForTerminal): \(systemMessage(error.code))")
    }
}
#endif

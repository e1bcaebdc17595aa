import DNSSD

/// Datagrams in frames of Ethernet, and back: IPv4 (RFC 791), IPv6 (RFC 8200), UDP, ARP (RFC 826) and neighbours (RFC 4861). Values.
enum Frames {
    static let mtu = 1500

    /// The frames of a datagram, in fragments where one would be larger than the link's MTU.
    static func make(_ packet: Packet, id: UInt32) -> [[UInt8]] {
        var udp = word(packet.source.port) + word(packet.destination.port) + word(packet.bytes.count + 8) + [0, 0]
        udp += packet.bytes
        let (from, to) = (packet.source.address.octets, packet.destination.address.octets)
        let sum = checksum(from + to + [0, 17] + word(udp.count) + udp)
        udp.replaceSubrange(6..<8, with: word(sum == 0 ? 0xFFFF : sum))
        let isV4 = packet.family == .ipv4
        let room = (mtu - (isV4 ? 20 : 40) - (isV4 || udp.count <= mtu - 40 ? 0 : 8)) / 8 * 8
        let isWhole = udp.count <= mtu - (isV4 ? 20 : 40)
        return (isWhole ? [0] : Array(stride(from: 0, to: udp.count, by: room))).map { start in
            let part = isWhole ? udp[...] : udp[start..<min(start + room, udp.count)]
            let hasMore = !isWhole && part.endIndex < udp.count
            var header: [UInt8]
            if isV4 {
                header = [0x45, 0] + word(20 + part.count) + word(Int(id & 0xFFFF))
                header += word(start / 8 | (hasMore ? 0x2000 : 0)) + [packet.hops, 17, 0, 0] + from + to
                header.replaceSubrange(10..<12, with: word(checksum(header)))
            } else {
                let fragment: [UInt8] =
                    isWhole
                    ? [] : [17, 0] + word(start | (hasMore ? 1 : 0)) + word(Int(id >> 16)) + word(Int(id & 0xFFFF))
                header = [0x60, 0, 0, 0] + word(fragment.count + part.count) + [isWhole ? 17 : 44, packet.hops]
                header += from + to + fragment
            }
            return packet.destination.hardware + packet.source.hardware + (isV4 ? [8, 0] : [0x86, 0xDD]) + header + part
        }
    }

    static func word(_ value: some BinaryInteger) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }

    /// The checksum of the Internet (RFC 1071).
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for place in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[place]) << 8 | (place + 1 < bytes.count ? UInt32(bytes[place + 1]) : 0)
        }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return ~UInt16(truncatingIfNeeded: sum)
    }

    /// The answer of a station to who asks for its hardware address; nil for another frame.
    static func neighbour(_ frame: [UInt8], of stations: [Station]) -> [UInt8]? {
        guard frame.count >= 42 else { return nil }
        let asker = Array(frame[6..<12])
        if frame[12] == 8, frame[13] == 6, frame[21] == 1 {
            let wanted = Array(frame[38..<42])
            guard let station = stations.first(where: { $0.v4.octets == wanted }) else { return nil }
            let answer: [UInt8] = [0, 1, 8, 0, 6, 4, 0, 2] + station.hardware + wanted + asker + frame[28..<32]
            return asker + station.hardware + [8, 6] + answer
        }
        guard frame.count >= 78, frame[12] == 0x86, frame[13] == 0xDD, frame[20] == 58, frame[54] == 135 else {
            return nil
        }
        let wanted = Array(frame[62..<78])
        guard let station = stations.first(where: { $0.v6.octets == wanted }) else { return nil }
        let to = Array(frame[22..<38])
        var answer: [UInt8] = [136, 0, 0, 0, 0x60, 0, 0, 0] + wanted + [2, 1] + station.hardware
        answer.replaceSubrange(2..<4, with: word(checksum(wanted + to + [0, 58] + word(answer.count) + answer)))
        let header: [UInt8] = [0x60, 0, 0, 0] + word(answer.count) + [58, 255] + wanted + to
        return asker + station.hardware + [0x86, 0xDD] + header + answer
    }
}

/// Puts datagrams together. At most 64 wait for fragments.
struct Reassembly {
    private struct Key: Hashable {
        let source: [UInt8]
        let id: [UInt8]
    }

    private struct Waiting {
        var parts: [Int: ArraySlice<UInt8>] = [:]
        var length: Int?
        var largest = 0
    }

    private var waiting: [Key: Waiting] = [:]

    /// The datagram that a frame completes; nil for another frame.
    mutating func take(_ frame: [UInt8], at time: Double) -> Packet? {
        guard frame.count > 34 else { return nil }
        let kind = Int(frame[12]) << 8 | Int(frame[13])
        let ip = frame[14...]
        func word(_ place: Int) -> Int { Int(ip[14 + place]) << 8 | Int(ip[14 + place + 1]) }
        let (from, to, hops): ([UInt8], [UInt8], UInt8)
        var (start, end, offset, hasMore, id): (Int, Int, Int, Bool, [UInt8])
        switch kind {
        case 0x0800:
            guard ip[14] >> 4 == 4, ip[23] == 17 else { return nil }
            (from, to, hops) = (Array(ip[26..<30]), Array(ip[30..<34]), ip[22])
            (start, end) = (14 + Int(ip[14] & 15) * 4, 14 + word(2))
            (offset, hasMore, id) = ((word(6) & 0x1FFF) * 8, word(6) & 0x2000 != 0, Array(ip[18..<20]))
        case 0x86DD:
            guard frame.count > 62, ip[20] == 17 || ip[20] == 44 && ip[54] == 17 else { return nil }
            (from, to, hops) = (Array(ip[22..<38]), Array(ip[38..<54]), ip[21])
            (start, end, offset, hasMore, id) = (54, 54 + word(4), 0, false, [])
            if ip[20] == 44 {
                (offset, hasMore, id) = (word(42) & 0xFFF8, word(42) & 1 != 0, Array(ip[58..<62]))
                start = 62
            }
        default: return nil
        }
        guard start < end, end <= frame.count, let source = IPAddress(octets: from), let target = IPAddress(octets: to)
        else { return nil }
        let key = Key(source: from, id: id)
        var whole = waiting.removeValue(forKey: key) ?? Waiting()
        if offset == 0, !hasMore { whole = Waiting() }
        whole.parts[offset] = frame[start..<end]
        whole.largest = max(whole.largest, end - 14)
        if !hasMore { whole.length = offset + end - start }
        var udp: [UInt8] = []
        while let part = whole.parts[udp.count], !part.isEmpty { udp += part }
        guard udp.count == whole.length, udp.count >= 8 else {
            if waiting.count < 64 { waiting[key] = whole }
            return nil
        }
        func port(_ place: Int) -> UInt16 { UInt16(udp[place]) << 8 | UInt16(udp[place + 1]) }
        return Packet(
            at: time, from: Packet.End(hardware: Array(frame[6..<12]), address: source, port: port(0)),
            to: Packet.End(hardware: Array(frame[0..<6]), address: target, port: port(2)), hops: hops,
            largest: whole.largest, fragments: whole.parts.count, bytes: Array(udp[8...]))
    }
}

extension IPAddress {
    /// In the order of the network.
    var octets: [UInt8] {
        switch self {
        case .v4(let address): (0..<4).map { UInt8(truncatingIfNeeded: address.bits >> (24 - 8 * UInt32($0))) }
        case .v6(let address, _):
            [address.high, address.low].flatMap { half in
                (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) }
            }
        }
    }

    init?(octets: [UInt8]) {
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch octets.count {
        case 4: self = .v4(IPv4Address(bits: UInt32(truncatingIfNeeded: number(octets[...]))))
        case 16: self = .v6(IPv6Address(high: number(octets[..<8]), low: number(octets[8...])), scope: 0)
        default: return nil
        }
    }
}

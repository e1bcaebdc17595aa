import CLinux
import DNSMessage
import DNSSD

/// Packets that have been read but not processed.
struct PacketQueue {
    /// The size in bytes from which no more packets are read.
    static let limit = 16 << 20
    /// The overhead of a packet in bytes.
    private static let overhead = 128

    /// How a packet came.
    enum Way {
        /// To the group, from another host.
        case others
        /// A question to the group, from another host, in a frame that did not go to all hosts.
        case alone
        /// To the group, from this machine.
        case own
        /// To the port of a one-shot question, from another host.
        case oneShot
        /// To the port of a one-shot question, from this machine.
        case ownOneShot
        /// To the socket that asks one host, from that host.
        case host
    }

    struct Packet {
        let bytes: [UInt8]
        let link: Link
        let family: IPAddress.Family
        let way: Way
        let source: PacketSource
        /// Its source over IPv4.
        let sender: IPv4Address?
    }

    private var packets: [Packet] = []
    private var first = 0
    private(set) var size = 0

    var isEmpty: Bool { first == packets.count }

    mutating func append(
        _ bytes: [UInt8], _ link: Link, over family: IPAddress.Family, _ way: Way, from source: PacketSource,
        _ sender: IPv4Address?
    ) {
        packets.append(Packet(bytes: bytes, link: link, family: family, way: way, source: source, sender: sender))
        size += bytes.count + Self.overhead
    }

    mutating func removeFirst(_ count: Int) -> [Packet] {
        let taken = Array(packets[first..<min(first + count, packets.count)])
        first += taken.count
        size -= taken.reduce(0) { $0 + $1.bytes.count + Self.overhead }
        if isEmpty {
            packets.removeAll(keepingCapacity: packets.count < 1024)
            first = 0
        } else if first >= 256 {
            packets.removeFirst(first)
            first = 0
        }
        return taken
    }
}

/// Memory for one call of recvmmsg.
@safe final class ReceiveBuffer {
    static let slots = 32
    private static let stride = Message.maximumMulticastLength

    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private let lengths: UnsafeMutableBufferPointer<UInt32>
    private let sources: UnsafeMutableBufferPointer<UInt32>

    init() {
        unsafe bytes = .allocate(capacity: Self.slots * Self.stride)
        unsafe lengths = .allocate(capacity: Self.slots)
        unsafe sources = .allocate(capacity: Self.slots)
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe lengths.deallocate()
        unsafe sources.deallocate()
    }

    /// Reads available packets, up to `slots`, and passes them to `body`, except truncated ones, with a number for the source: an IPv4 address
    /// in network order.
    /// - Returns: how many packets were read.
    func receive(_ descriptor: Int32, _ body: ([UInt8], UInt32) -> Void) -> Int {
        guard let start = unsafe bytes.baseAddress, let lengths = unsafe lengths.baseAddress,
            let sources = unsafe sources.baseAddress
        else { return 0 }
        let count = unsafe cmulticast_receive(
            descriptor, start, Int32(Self.stride), Int32(Self.slots), lengths, sources)
        for slot in 0..<max(0, Int(count)) {
            let length = unsafe Int(lengths[slot])
            guard length <= Self.stride else { continue }
            unsafe body(
                Array(bytes[slot * Self.stride..<slot * Self.stride + length]), sources[slot])
        }
        return Int(count)
    }
}

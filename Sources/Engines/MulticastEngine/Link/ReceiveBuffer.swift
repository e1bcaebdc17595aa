import CLinux
import DNSMessage

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

    /// Reads available packets, up to `slots`, and passes them to `body`, except truncated ones.
    /// - Returns: how many packets were read.
    func receive(_ descriptor: Int32, _ body: ([UInt8], PacketSource) -> Void) -> Int {
        guard let start = unsafe bytes.baseAddress, let lengths = unsafe lengths.baseAddress,
            let sources = unsafe sources.baseAddress
        else { return 0 }
        let count = unsafe cmulticast_receive(
            descriptor, start, Int32(Self.stride), Int32(Self.slots), lengths, sources)
        for slot in 0..<max(0, Int(count)) {
            let length = unsafe Int(lengths[slot])
            guard length <= Self.stride else { continue }
            unsafe body(
                Array(bytes[slot * Self.stride..<slot * Self.stride + length]), PacketSource(sources[slot]))
        }
        return Int(count)
    }
}

// libFuzzer's target: any bytes are read or rejected, and whatever was read survives writing and reading. Run by `make fuzz`.

/// Tests one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    _ = try? SignedMessage(bytes)
    guard let message = try? Message(reading: bytes) else { return 0 }
    for compression in [MessageWriter.Compression.multicast, .unicast] {
        guard let written = try? message.written(compression: compression) else { continue }
        precondition((try? Message(reading: written)) == message, "read otherwise than written")
    }
    return 0
}

import DNSMessage

// libFuzzer's target: any bytes are read or rejected, as a message and as the answer to a signed update, and whatever was read survives
// writing, signing and reading. What is heard of a multicast message is the whole of one that can be read, and else ends nothing. Run by `make
// fuzz`.

/// Tests one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    _ = try? SignedMessage(bytes)
    answer(bytes)
    hear(bytes)
    guard let message = try? Message(reading: bytes), message.isWhole else { return 0 }
    for compression in [MessageWriter.Compression.multicast, .unicast] {
        guard let written = try? message.written(compression: compression) else { continue }
        check((try? Message(reading: written)) == message, "read otherwise than written")
    }
    sign(message)
    return 0
}

extension Message {
    /// Every record with a name in it could be read. What could not keeps its bytes, and these may be a name at another place.
    fileprivate var isWhole: Bool {
        let types: Set<RecordType> = [.ptr, .cname, .ns, .srv, .nsec, .soa, .tsig]
        return !(answers + authorities + additionals).contains { record in
            if case .other(let bytes) = record.data { !bytes.isEmpty && types.contains(record.type) } else { false }
        }
    }
}

/// As a message of multicast DNS.
private func hear(_ bytes: [UInt8]) {
    let heard = HeardMessage(bytes)
    if let message = try? Message(reading: bytes) {
        check(heard?.message == message && heard?.fault == nil, "heard otherwise than read")
    }
    guard let heard, heard.fault != nil else { return }
    let records = heard.message.answers + heard.message.authorities + heard.message.additionals
    check(records.allSatisfy { !$0.flushesCache && $0.ttl > 0 && $0.ttl >> 31 == 0 }, "a broken message ends something")
}

/// The key, the id and the time of the updates in TSIGVectors.
private let id: UInt16 = 0x1234
private let time: UInt64 = 0x6B02_28B0
private let zone = try? DomainName(labels: ["home", "example", "org"].map { Array($0.utf8) })
private let key = zone.flatMap { try? DomainName(labels: [Array("Pub".utf8)] + $0.labels.map(Array.init)) }
    .map { TSIGKey(name: $0, algorithm: .sha256, secret: [1]) }

/// The bytes as an answer to an update, as they are and with a header that fits: none is believed that was not signed.
private func answer(_ bytes: [UInt8]) {
    guard let zone, let key else { fatalError("no key") }
    var update = Message(questions: [Question(zone, .soa)])
    update.opcode = 5
    guard var pending = try? PendingUpdate(update, id: id, key: key, at: time) else { fatalError("no update") }
    _ = pending.receive(bytes, at: time)
    guard bytes.count >= 12 else { return }
    _ = pending.receive([UInt8(id >> 8), UInt8(id & 0xFF), 0xA8, bytes[3]] + bytes[4...], at: time)
}

/// What is signed is read back as it was, and as an answer to itself it is no answer.
private func sign(_ message: Message) {
    guard let key, let written = try? message.written(compression: .unicast),
        let signer = try? TSIG(signing: written, with: key, at: time)
    else { return }
    let read: SignedMessage?
    do throws(MessageError) {
        read = try SignedMessage(signer.request)
    } catch {
        // A message may have had a signature before.
        check(error == .misplacedTSIG, "a signed message cannot be read: \(error)")
        return
    }
    check(read?.unsigned == written && read?.key == key.name, "signed otherwise than written")
    check(signer.verify(signer.request, at: time) == .unsigned(error: nil), "an echo was believed")
}

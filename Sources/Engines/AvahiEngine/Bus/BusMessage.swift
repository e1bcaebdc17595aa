/// A D-Bus message, as far as the conversations need it (D-Bus specification, "Message Protocol"). In native byte order, which the
/// local bus answers in.
struct BusMessage {
    enum Kind: UInt8 {
        case methodCall = 1
        case methodReturn, error, signal
    }

    /// What a method is called with.
    enum Argument {
        case string(String)
        case int32(Int32)
        case uint32(UInt32)
    }

    /// Bytes to read value by value.
    struct Body {
        private let bytes: [UInt8]
        private var place: Int

        init(_ bytes: [UInt8], from start: Int = 0) {
            self.bytes = bytes
            place = start
        }

        var isAtEnd: Bool { place >= bytes.count }

        mutating func byte() -> UInt8? {
            guard place < bytes.count else { return nil }
            defer { place += 1 }
            return bytes[place]
        }

        /// Reads a value of type `u`, `i` or `b`.
        mutating func number() -> UInt32? {
            align(to: 4)
            guard place <= bytes.count - 4 else { return nil }
            defer { place += 4 }
            return BusMessage.number(bytes, place)
        }

        /// Reads a value of type `q`.
        mutating func number16() -> UInt16? {
            align(to: 2)
            guard place <= bytes.count - 2 else { return nil }
            defer { place += 2 }
            return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: place, as: UInt16.self) }
        }

        /// Reads a value of type `aay`.
        mutating func strings() -> [[UInt8]]? {
            guard let size = number(), size <= UInt32(clamping: bytes.count - min(place, bytes.count)) else {
                return nil
            }
            let end = place + Int(size)
            var strings: [[UInt8]] = []
            while place < end {
                guard let length = number(), place <= end, length <= UInt32(clamping: end - place) else { return nil }
                strings.append(Array(bytes[place..<place + Int(length)]))
                place += Int(length)
            }
            return strings
        }

        /// Reads a value of type `s` or `o`.
        mutating func string() -> String? { number().flatMap { text($0) } }

        /// Reads a value of type `g`.
        mutating func signature() -> String? { byte().flatMap { text(UInt32($0)) } }

        mutating func align(to size: Int) { place = (place + size - 1) / size * size }

        /// Reads this many bytes and the terminating zero.
        private mutating func text(_ length: UInt32) -> String? {
            guard place < bytes.count, length < UInt32(clamping: bytes.count - place) else { return nil }
            defer { place += Int(length) + 1 }
            return String(decoding: bytes[place..<place + Int(length)], as: UTF8.self)
        }
    }

    /// Nil for an unknown kind, which must be ignored.
    let kind: Kind?
    private(set) var replySerial: UInt32?
    private(set) var member: String?
    let body: Body

    private static let headerLength = 16
    #if _endian(little)
    private static let order = UInt8(ascii: "l")
    #else
    private static let order = UInt8(ascii: "B")
    #endif

    /// The length of the message that begins here; nil if its header is incomplete or invalid.
    static func length(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= headerLength, bytes[0] == order, let body = number(bytes, 4),
            let fields = number(bytes, 12)
        else { return nil }
        // The specification limits each to 2^26 bytes.
        guard body <= 1 << 26, fields <= 1 << 26 else { return nil }
        return (headerLength + Int(fields) + 7) / 8 * 8 + Int(body)
    }

    /// Reads one complete message; nil if it is invalid.
    init?(_ bytes: [UInt8]) {
        guard let length = Self.length(of: bytes), length == bytes.count, let fields = Self.number(bytes, 12) else {
            return nil
        }
        kind = Kind(rawValue: bytes[1])
        let end = Self.headerLength + Int(fields)
        var header = Body(Array(bytes[..<end]), from: Self.headerLength)
        while !header.isAtEnd {
            header.align(to: 8)
            guard !header.isAtEnd else { break }
            guard let code = header.byte(), let type = header.signature() else { return nil }
            switch type {
            case "u":
                guard let value = header.number() else { return nil }
                if code == 5 { replySerial = value }
            case "s", "o":
                guard let value = header.string() else { return nil }
                if code == 3 { member = value }
            case "g": guard header.signature() != nil else { return nil }
            default: return nil
            }
        }
        body = Body(Array(bytes[((end + 7) / 8 * 8)...]))
    }

    /// A method call; the interface has the name of its owner, or another.
    static func call(
        _ member: String, of name: String, interface: String? = nil, at path: String, _ arguments: [Argument],
        serial: UInt32
    ) -> [UInt8] {
        var fields: [UInt8] = []
        // PATH, INTERFACE, MEMBER, DESTINATION.
        let header = [(UInt8(1), "o", path), (2, "s", interface ?? name), (3, "s", member), (6, "s", name)]
        for (code, type, value) in header {
            pad(&fields)
            fields += [code, 1] + Array(type.utf8) + [0] + string(value)
        }
        var body: [UInt8] = []
        var signature: [UInt8] = []
        for argument in arguments {
            pad(&body, to: 4)
            switch argument {
            case .string(let text): (body, signature) = (body + string(text), signature + [UInt8(ascii: "s")])
            case .int32(let value):
                (body, signature) = (body + native(UInt32(bitPattern: value)), signature + [UInt8(ascii: "i")])
            case .uint32(let value): (body, signature) = (body + native(value), signature + [UInt8(ascii: "u")])
            }
        }
        if !signature.isEmpty {
            pad(&fields)
            fields += [8, 1, UInt8(ascii: "g"), 0, UInt8(clamping: signature.count)] + signature + [0]  // SIGNATURE
        }
        var message = [order, Kind.methodCall.rawValue, 0, 1]
        message += native(UInt32(clamping: body.count)) + native(serial) + native(UInt32(clamping: fields.count))
        message += fields
        pad(&message)
        return message + body
    }

    private static func pad(_ bytes: inout [UInt8], to size: Int = 8) {
        while bytes.count % size != 0 { bytes.append(0) }
    }

    private static func string(_ text: String) -> [UInt8] {
        native(UInt32(clamping: text.utf8.count)) + Array(text.utf8) + [0]
    }

    private static func native(_ value: UInt32) -> [UInt8] { unsafe withUnsafeBytes(of: value) { unsafe Array($0) } }

    private static func number(_ bytes: [UInt8], _ start: Int) -> UInt32? {
        guard start >= 0, start <= bytes.count - 4 else { return nil }
        return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: start, as: UInt32.self) }
    }
}

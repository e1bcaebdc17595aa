internal import DNSSD
internal import DiscoveryJSON

/// A frame on a connection: four bytes of length for the rest, big endian; one byte of kind; a payload.
package enum Frame: Hashable, Sendable {
    /// The first frame from the dialling side: introduces itself and invites.
    case hello(Greeting)
    /// The answer yes, with this side's introduction.
    case welcome(Greeting)
    /// The answer no.
    case decline(Refusal)
    /// A message.
    case message([UInt8], Delivery)
    /// A sign of life, with the newest datagram that arrived; 0 before the first. Sent every second.
    case ping(heard: UInt64)
    /// I am leaving.
    case bye

    /// Why a connection is refused.
    package enum Refusal: UInt8, Hashable, Sendable {
        /// The user declined.
        case declined = 0
        /// The two sides have a connection already, or a preferred one is on its way.
        case duplicate = 1
        /// Too many are waiting.
        case busy = 2
        /// The hello was meant for an earlier session in this place.
        case another = 3
        /// The session speaks TLS only.
        case plain = 4
    }

    /// The maximum length of a payload other than a message.
    package static let maximumControlLength = 1024

    /// The encoded frame.
    package var bytes: [UInt8] {
        let payload = payload
        let length = UInt32(truncatingIfNeeded: payload.count + 1)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + [kind] + payload
    }

    private var kind: UInt8 {
        switch self {
        case .hello: 1
        case .welcome: 2
        case .decline: 3
        case .message(_, .reliable): 4
        case .message(_, .unreliable): 5
        case .ping: 6
        case .bye: 7
        }
    }

    private var payload: [UInt8] {
        switch self {
        case .hello(let greeting), .welcome(let greeting): greeting.bytes
        case .decline(let refusal): [refusal.rawValue]
        case .message(let bytes, _): bytes
        case .ping(0), .bye: []
        case .ping(let heard): heard.bigEndianBytes
        }
    }

    init(kind: UInt8, payload: [UInt8]) throws(SessionError) {
        switch kind {
        case 1: self = .hello(try Greeting(payload))
        case 2: self = .welcome(try Greeting(payload))
        case 3:
            guard payload.count == 1, let refusal = Refusal(rawValue: payload[0]) else {
                throw SessionError(.malformed, "a refusal without a reason")
            }
            self = .decline(refusal)
        case 4: self = .message(payload, .reliable)
        case 5: self = .message(payload, .unreliable)
        case 6:
            guard payload.isEmpty || payload.count == 8 else {
                throw SessionError(.malformed, "a ping of \(payload.count) bytes")
            }
            self = .ping(heard: UInt64(bigEndianBytes: payload))
        case 7: self = .bye
        default: throw SessionError(.malformed, "a frame of the unknown kind \(kind)")
        }
    }

    /// The maximum payload of a kind.
    static func limit(kind: UInt8) -> Int {
        kind == 4 || kind == 5 ? PeerSession.maximumMessageLength : maximumControlLength
    }
}

/// Splits a byte stream into frames. Buffers at most one frame of maximum length.
package struct FrameDecoder: Sendable {
    private var pending: [UInt8] = []

    package init() {}

    /// Takes bytes from the stream.
    /// - Returns: the frames that are now complete.
    /// - Throws: `.messageTooLong` and `.malformed`; the stream is unreadable from there on.
    package mutating func received(_ bytes: some Sequence<UInt8>) throws(SessionError) -> [Frame] {
        pending.append(contentsOf: bytes)
        var frames: [Frame] = []
        var start = 0
        defer { pending.removeFirst(start) }
        while pending.count - start >= 5 {
            let length = pending[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 1 else { throw SessionError(.malformed, "a frame of no length") }
            let kind = pending[start + 4]
            let limit = Frame.limit(kind: kind)
            guard length - 1 <= limit else {
                throw SessionError(.messageTooLong, "\(length - 1) bytes were announced, \(limit) are allowed")
            }
            guard pending.count - start >= 4 + length else { break }
            frames.append(try Frame(kind: kind, payload: Array(pending[start + 5..<start + 4 + length])))
            start += 4 + length
        }
        return frames
    }
}

/// A side's introduction; in a hello also the intended peer; and where it takes datagrams, if it does:
/// `{"v":1,"id":"0123456789abcdef","name":"tony","to":"fedcba9876543210","udp":{"port":40000,"token":"0123456789abcdef"}}`. Over TLS `udp` also has
/// the key of datagrams to this side: `"key":"…"`, base64.
package struct Greeting: Hashable, Sendable {
    package let id: PeerID
    package let name: String
    package let to: PeerID?
    package let datagrams: DatagramOffer?

    package init(id: PeerID, name: String, to: PeerID? = nil, datagrams: DatagramOffer? = nil) {
        self.id = id
        self.name = Peer.cut(name)
        self.to = to
        self.datagrams = datagrams
    }

    init(_ payload: [UInt8]) throws(SessionError) {
        guard let json = try? JSONReader.read(payload), json["v"]?.integer == 1,
            let id = json["id"]?.string.flatMap({ PeerID($0) }), let name = json["name"]?.string
        else { throw SessionError(.malformed, "a greeting without version 1, id and name") }
        self.init(
            id: id, name: name, to: json["to"]?.string.flatMap { PeerID($0) },
            datagrams: try json["udp"].map(Self.offer))
    }

    private static func offer(_ json: JSONValue) throws(SessionError) -> DatagramOffer {
        guard let port = json["port"]?.integer.flatMap({ UInt16(exactly: $0) }), port > 0,
            let token = json["token"]?.string.flatMap({ UInt64(hexadecimal: $0) })
        else { throw SessionError(.malformed, "datagrams without port and token") }
        guard let text = json["key"] else { return DatagramOffer(port: port, token: token) }
        guard let key = text.string.flatMap({ Base64.decode($0) }).flatMap({ DatagramKey($0) }) else {
            throw SessionError(.malformed, "datagrams with a key that is none")
        }
        return DatagramOffer(port: port, token: token, key: key)
    }

    var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { object in
            object.member("v", 1)
            object.member("id", id.description)
            object.member("name", name)
            if let to { object.member("to", to.description) }
            guard let datagrams else { return }
            object.key("udp")
            object.object { udp in
                udp.member("port", Int(datagrams.port))
                udp.member("token", datagrams.token.hexadecimal)
                if let key = datagrams.key { udp.member("key", Base64.encode(key.bytes)) }
            }
        }
        return json.bytes
    }
}

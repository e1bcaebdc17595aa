internal import DNSSD
internal import DiscoveryJSON

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

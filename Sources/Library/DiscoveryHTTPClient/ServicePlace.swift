#if HTTPClient
internal import AsyncHTTPClient
internal import DNSSD
internal import NIOHTTP1

/// A service, and the address at which it answered.
struct ServicePlace: Sendable {
    let service: DiscoveredService
    let endpoint: Endpoint

    /// The request with the address, and a `Host` field.
    func addressed(_ request: HTTPClientRequest) -> HTTPClientRequest {
        var request = request
        request.url = "http://\(authority)\(request.url)"
        if request.headers["Host"].isEmpty { request.headers.add(name: "Host", value: hostField) }
        return request
    }

    /// The address as in a URL, a link-local one with its scope (RFC 6874 §2).
    var authority: String { bracketed(parts.joined(separator: "%25")) }

    /// The name of the host that offers the service; the address, without scope, where it has something that names in
    /// URLs do not have.
    var hostField: String {
        guard let name = (endpoint.target?.host ?? service.host)?.text,
            name.utf8.allSatisfy({ Self.isPlain($0) }), !name.isEmpty, name.utf8.count <= 253
        else { return bracketed(parts[0]) }
        return "\(name):\(endpoint.port)"
    }

    /// The address, and its scope if it has one.
    private var parts: [String] {
        endpoint.address.text(scopedTo: nil).split(separator: "%", maxSplits: 1).map(String.init)
    }

    private func bracketed(_ address: String) -> String {
        endpoint.address.family == .ipv6 ? "[\(address)]:\(endpoint.port)" : "\(address):\(endpoint.port)"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
#endif

package import DiscoveryControl

/// A request, taken apart.
package struct ControlRequest: Sendable {
    package var method: String
    /// The parts of the path, decoded.
    package var path: [String]
    package var query: QueryString
    package var body: [UInt8]
    package var peer: Peer
    /// It came over TCP: nothing that changes anything is possible.
    package var isReadOnly: Bool
    /// The field of that name, which only `discoverd show` asks for.
    package var authorization: String?

    /// - Throws: 400 for a target that is no path or is not encoded properly.
    package init(
        _ method: String,
        target: String,
        body: [UInt8],
        peer: Peer,
        isReadOnly: Bool = false,
        authorization: String? = nil
    ) throws(ControlError) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first, path.hasPrefix("/") else {
            throw ControlError(400, "bad-request", "the target of a request is a path")
        }
        var decoded: [String] = []
        for part in path.split(separator: "/") {
            guard let text = QueryString.decode(part) else { throw Self.badEncoding }
            decoded.append(text)
        }
        guard let query = QueryString(parts.count == 2 ? String(parts[1]) : "") else { throw Self.badEncoding }
        self.method = method
        self.path = decoded
        self.query = query
        self.body = body
        self.peer = peer
        self.isReadOnly = isReadOnly
        self.authorization = authorization
    }

    private static var badEncoding: ControlError {
        ControlError(400, "bad-request", "the target of the request is not encoded properly (RFC 3986 §2.1)")
    }
}

internal import DNSSD
package import DiscoveryControl
package import DiscoveryJSON

/// A request, taken apart.
package struct ControlRequest: Sendable {
    package var method: String
    /// The parts of the path, decoded.
    package var path: [String]
    package var query: QueryString
    package var body: [UInt8]
    package var peer: SocketPeer
    /// It came over TCP: nothing that changes anything is possible.
    package var isReadOnly: Bool
    /// The field of that name, which only `discoverd show` asks for.
    package var authorization: String?
    /// The version of JSON that it asks for: what version 1 answers cannot change.
    package var version = JSONVersion.one

    /// - Throws: 400 for a target that is no path or is not encoded properly.
    package init(
        _ method: String,
        target: String,
        body: [UInt8],
        peer: SocketPeer,
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

/// The query parameters of the API's requests.
extension QueryString {
    /// Parameters for services.
    static let ofServices: Set<String> = ["type", "observed", "name", "domain", "interface", "family", "resolve"]
    /// Parameters for types.
    static let ofTypes: Set<String> = ["domain", "interface", "family"]
    /// Parameters for domains.
    static let ofDomains: Set<String> = ["purpose", "domain", "interface"]

    /// - Throws: 400 for an unknown name, or one that is repeated and may not be: a misspelt filter must not list
    ///   everything.
    func allow(_ names: Set<String>, repeated: Set<String> = ["interface"]) throws(ControlError) {
        var seen: Set<String> = []
        for item in items where !repeated.contains(item.name) && !seen.insert(item.name).inserted {
            throw ControlError(400, "invalid-request", "the parameter \(item.name.quotedForMessage) is there twice")
        }
        guard let other = items.first(where: { !names.contains($0.name) })?.name else { return }
        let known = names.isEmpty ? "none is" : names.sorted().joined(separator: ", ") + " are"
        throw ControlError(
            400, "invalid-request", "unknown parameter \(other.quotedForMessage): \(known) known here")
    }

    /// How long to wait for results: `wait` seconds, 5 by default, at most 30.
    /// - Throws: 400 for anything but a number of seconds.
    func patience() throws(ControlError) -> Duration {
        guard let text = self["wait"], !text.isEmpty else { return .seconds(5) }
        guard let seconds = Double(text), (0...30).contains(seconds) else {
            throw ControlError(
                400, "invalid-request",
                "wait=\(text.quotedForMessage): it is a number of seconds from 0 to 30")
        }
        return .milliseconds(Int64(seconds * 1000))
    }
}

extension ControlRequest {
    /// The body as JSON.
    /// - Throws: 400 for what is none.
    func json() throws(ControlError) -> JSONValue {
        do throws(JSONReader.Failure) {
            return try JSONReader.read(body)
        } catch {
            throw ControlError(400, "invalid-json", error.description)
        }
    }

    /// - Returns: the request itself.
    /// - Throws: 405 with the possible methods (RFC 9110 §15.5.6), unless it is one of these.
    @discardableResult func takes(_ methods: [String]) throws(ControlError) -> ControlRequest {
        let reading = ["GET", "HEAD"]
        let allowed = isReadOnly ? methods.filter(reading.contains) : methods
        if allowed.contains(method) { return self }
        guard !isReadOnly || reading.contains(method) else {
            throw ControlError(
                405, "read-only", "only GET and HEAD are served here; use the control socket", allow: allowed)
        }
        let list = allowed.isEmpty ? "nothing" : allowed.joined(separator: ", ")
        throw ControlError(405, "method-not-allowed", "possible here: \(list)", allow: allowed)
    }
}

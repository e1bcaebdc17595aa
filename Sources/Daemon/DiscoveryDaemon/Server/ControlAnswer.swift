internal import DNSSD
package import DiscoveryControl
package import DiscoveryJSON
internal import NIOHTTP1

/// The daemon's answer to a request.
package enum ControlAnswer: Sendable {
    /// All of it; `allow` lists the possible methods, with 405.
    case whole(status: Int, type: String, body: [UInt8], allow: [String]? = nil)
    /// Lines as they come, until there are no more or the client goes.
    case lines(status: Int, any LineSource)
    /// One value in pieces, each made when the previous one was taken, so that a client that does not read costs little.
    case pieces(status: Int, type: String, any LineSource)

    /// One object and a line end.
    package static func json(_ status: Int = 200, _ members: (inout JSONWriter) -> Void) -> ControlAnswer {
        var writer = JSONWriter()
        writer.object { object in
            object.member("v", 1)
            members(&object)
        }
        writer.endLine()
        return .whole(status: status, type: "application/json", body: writer.bytes)
    }

    package static func error(_ error: ControlError) -> ControlAnswer {
        var writer = JSONWriter()
        writer.error(error)
        return .whole(status: error.status, type: "application/json", body: writer.bytes, allow: error.allow)
    }

    /// Done, without a body.
    package static let nothing = ControlAnswer.whole(status: 204, type: "", body: [])
}

/// Where the lines of an answer come from.
package protocol LineSource: Sendable {
    /// The next lines, as bytes; nil when there are no more, or when the task was cancelled.
    func next() async -> [UInt8]?

    /// The client is gone, or the daemon ends.
    func end() async
}

extension LineSource {
    package func end() async {}
}

extension ControlAnswer {
    /// Status and fields of an answer, as they are sent before its body.
    func head(isLast: Bool) -> HTTPResponseHead {
        var fields = HTTPHeaders()
        let code: Int
        switch self {
        case .whole(let status, let type, let body, let allow):
            code = status
            if !type.isEmpty { fields.add(name: "Content-Type", value: type) }
            if status != 204 { fields.add(name: "Content-Length", value: String(body.count)) }
            // The scheme that a client would have to use (RFC 9110 §15.5.2).
            if status == 401 { fields.add(name: "WWW-Authenticate", value: "Bearer") }
            for field in Self.policy(of: type) { fields.add(name: field.name, value: field.value) }
            if let allow { fields.add(name: "Allow", value: allow.joined(separator: ", ")) }
        case .lines(let status, _):
            code = status
            fields.add(name: "Content-Type", value: "application/x-ndjson")
            fields.add(name: "Cache-Control", value: "no-store")
        case .pieces(let status, let type, _):
            code = status
            fields.add(name: "Content-Type", value: type)
        }
        // A browser must not take it for a script or a style sheet (Fetch §3.6).
        fields.add(name: "X-Content-Type-Options", value: "nosniff")
        if isLast { fields.add(name: "Connection", value: "close") }
        return HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: code), headers: fields)
    }

    /// The answer to HEAD: the same, with the length of the body that would follow (RFC 9110 §9.3.2). Without it the end of a body in
    /// chunks would be written, which HEAD forbids.
    func headAlone(isLast: Bool) async -> HTTPResponseHead {
        var head = head(isLast: isLast)
        switch self {
        case .whole: break
        case .lines(_, let source): await source.end()
        case .pieces(_, _, let source):
            var count = 0
            while let piece = await source.next() { count += piece.count }
            await source.end()
            head.headers.replaceOrAdd(name: "Content-Length", value: String(count))
        }
        return head
    }
}

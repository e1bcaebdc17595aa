internal import NIOHTTP1

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

internal import HTTPTypes

extension ControlAnswer {
    /// Status and fields of an answer, as they are sent before its body.
    func head(isLast: Bool) -> HTTPResponse {
        var fields: HTTPFields = [:]
        let code: Int
        switch self {
        case .whole(let status, let type, let body, let allow):
            code = status
            if !type.isEmpty { fields[.contentType] = type }
            if status != 204 { fields[.contentLength] = String(body.count) }
            if let allow { fields[.allow] = allow.joined(separator: ", ") }
        case .lines(let status, _):
            code = status
            fields = [.contentType: "application/x-ndjson", .cacheControl: "no-store"]
        case .pieces(let status, let type, _):
            code = status
            fields[.contentType] = type
        }
        // A browser must not take it for a script or a style sheet (Fetch §3.6).
        fields[.xContentTypeOptions] = "nosniff"
        if isLast { fields[.connection] = "close" }
        return HTTPResponse(status: HTTPResponse.Status(code: code), headerFields: fields)
    }

    /// The answer to HEAD: the same, with the length of the body that would follow (RFC 9110 §9.3.2). Without it the end of a body in
    /// chunks would be written, which HEAD forbids.
    func headAlone(isLast: Bool) async -> HTTPResponse {
        var head = head(isLast: isLast)
        switch self {
        case .whole: break
        case .lines(_, let source): await source.end()
        case .pieces(_, _, let source):
            var count = 0
            while let piece = await source.next() { count += piece.count }
            await source.end()
            head.headerFields[.contentLength] = String(count)
        }
        return head
    }
}

internal import DiscoveryControl
internal import NIOCore
internal import NIOHTTP1

// `@concurrent`, like the functions of SwiftNIO that these call.
extension ControlServer {
    /// Ends a connection after an answer, without reading the rest of the request.
    private struct EndOfConnection: Error {}

    /// Answers a request of a client.
    @concurrent func answer(
        _ head: HTTPRequestHead,
        _ rest: inout HTTPConnection.Requests,
        _ writer: HTTPConnection.Writer,
        _ connection: Connection,
        _ hosts: [String]
    ) async throws {
        var mustClose = false
        var answer: ControlAnswer
        do throws(ControlError) {
            if connection.isReadOnly { try OriginPolicy.check(head, hosts: hosts) }
            let body = try await body(of: head, &rest)
            connection.became(.serving)
            let parsed = try ControlRequest(
                head.method.rawValue,
                target: Authority.originForm(of: head.uri),
                body: body,
                peer: connection.peer,
                isReadOnly: connection.isReadOnly,
                authorization: head.headers["Authorization"].first
            )
            answer = await respond(parsed)
        } catch {
            // The unread rest of the request would be taken for the next one.
            mustClose = true
            answer = .error(error)
        }
        switch answer {
        case .lines(_, let source):
            guard let refusal = connection.watches() else { break }
            await source.end()
            answer = .error(ControlError(503, "busy", refusal))
        case .whole, .pieces: break
        }
        connection.became(.sending)
        let isLast = mustClose || !head.isKeepAlive
        if head.method == .HEAD {
            let head = await answer.headAlone(isLast: isLast)
            try await writer.write(contentsOf: [.head(head), .end(nil)])
        } else {
            let head = answer.head(isLast: isLast)
            switch answer {
            case .whole(_, _, let body, _): try await writer.write(head, body)
            case .lines(_, let source): try await send(head, source, writer, connection, .watching)
            case .pieces(_, _, let source): try await send(head, source, writer, connection, .serving)
            }
        }
        if mustClose { throw EndOfConnection() }
        connection.became(.idle)
    }

    @concurrent private func send(
        _ head: HTTPResponseHead,
        _ source: any LineSource,
        _ writer: HTTPConnection.Writer,
        _ connection: Connection,
        _ waiting: ConnectionTable.Activity
    ) async throws {
        do {
            try await writer.write(head, source, of: connection, waiting: waiting)
        } catch {
            await source.end()
            throw error
        }
        await source.end()
    }

    @concurrent private func body(
        of head: HTTPRequestHead, _ rest: inout HTTPConnection.Requests
    ) async throws(ControlError) -> [UInt8] {
        if let length = head.headers["Content-Length"].first.flatMap({ Int($0) }), length > maximumBody {
            throw tooLarge
        }
        var bytes: [UInt8] = []
        do {
            while case .body(let part)? = try await rest.next() {
                bytes.append(contentsOf: part.readableBytesView)
                if bytes.count > maximumBody { break }
            }
        } catch {
            throw ControlError(400, "bad-request", "the request broke off")
        }
        guard bytes.count <= maximumBody else { throw tooLarge }
        return bytes
    }

    private var tooLarge: ControlError {
        ControlError(413, "too-large", "the body of a request has \(maximumBody) bytes at most")
    }
}

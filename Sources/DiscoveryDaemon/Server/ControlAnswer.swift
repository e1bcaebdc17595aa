internal import DNSSD
package import DiscoveryControl
package import DiscoveryJSON

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

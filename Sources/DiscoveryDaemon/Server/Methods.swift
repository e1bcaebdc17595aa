internal import DNSSD
internal import DiscoveryControl

/// The methods of each resource.
enum Methods {
    private static let reading = ["GET", "HEAD"]

    /// - Throws: 404 for no such resource, 405 with the possible methods (RFC 9110 §15.5.6).
    static func check(_ request: ControlRequest) throws(ControlError) {
        guard var allowed = methods(of: request.path) else { throw noResource(request.path) }
        if request.isReadOnly { allowed.removeAll { !reading.contains($0) } }
        guard !allowed.contains(request.method) else { return }
        guard !request.isReadOnly || reading.contains(request.method) else {
            throw ControlError(
                405, "read-only", "only GET and HEAD are served here; use the control socket", allow: allowed)
        }
        let list = allowed.isEmpty ? "nothing" : allowed.joined(separator: ", ")
        throw ControlError(405, "method-not-allowed", "possible here: \(list)", allow: allowed)
    }

    static func noResource(_ path: [String]) -> ControlError {
        let text = "/" + path.joined(separator: "/")
        return ControlError(404, "no-such-resource", "\(text.quotedForMessage): the daemon has nothing of this name")
    }

    /// Nil: no such resource.
    private static func methods(of path: [String]) -> [String]? {
        switch path {
        case ["v1", "registrations"]: return reading + ["POST"]
        case ["v1", "reload"]: return ["POST"]
        case ["v1", "services"], ["v1", "types"], ["v1", "domains"], ["v1", "ping"], ["v1", "status"],
            ["v1", "prometheus", "sd"], ["healthz"], ["metrics"]:
            return reading
        // Endless: a HEAD of it would start a query for no reader.
        case ["v1", "services", "watch"], ["v1", "types", "watch"], ["v1", "domains", "watch"],
            ["v1", "backend", "watch"]:
            return ["GET"]
        default: return path.count == 3 && path.starts(with: ["v1", "registrations"]) ? reading + ["DELETE"] : nil
        }
    }
}

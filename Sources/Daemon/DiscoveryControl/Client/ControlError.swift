public import DNSSD
public import DiscoveryJSON

/// The daemon's refusal and its reason: `{"v":1,"error":{"code":"…","message":"…"}}` with an HTTP status;
/// where there are several, each by itself in `errors`.
public struct ControlError: Error, Hashable, Sendable {
    /// 400 to 599.
    public let status: Int
    /// A stable name for programs.
    public let code: String
    /// A sentence for people; where there are several errors, each in a line of its own.
    public let message: String
    /// What is wrong, where that is a list.
    public let errors: [String]
    /// The methods that are allowed, with status 405 (RFC 9110 §10.2.1).
    public let allow: [String]?

    /// Creates an error.
    public init(_ status: Int, _ code: String, _ message: String, allow: [String]? = nil) {
        self.allow = allow
        self.status = status
        self.code = code
        self.message = message
        errors = []
    }

    /// Creates an error of several.
    public init(_ status: Int, _ code: String, _ errors: [String]) {
        allow = nil
        self.status = status
        self.code = code
        message = errors.joined(separator: "\n")
        self.errors = errors
    }

    /// The HTTP form of a library error.
    public init(_ error: DiscoveryError) {
        let status =
            switch error.code {
            case .notPermitted: 403
            case .notFound: 404
            case .nameTaken: 409
            case .limitExceeded: 429
            case .backendUnavailable, .closed: 503
            case .backendFailed: 502
            case .timedOut: 504
            default: 400
            }
        self.init(status, error.code.description, error.message)
    }

    /// Reads the body of an answer. Any body gives an error.
    public init(status: Int, body: [UInt8]) {
        let error = (try? JSONReader.read(body))?["error"]
        let code = error?["code"]?.string ?? "http-\(status)"
        // Of version 1, or 2.
        if let errors = (error?["errors"] ?? error?["messages"])?.strings, !errors.isEmpty {
            self.init(status, code, errors.map(\.escapedOnce))
            return
        }
        self.init(
            status,
            code,
            error?["message"]?.string?.escapedOnce ?? "the daemon answered with status \(status)"
        )
    }

    /// The daemon refuses the request, and would again: neither busy nor without what the request is about.
    var isFinal: Bool { 400..<500 ~= status && ![404, 408, 429].contains(status) }

    /// The daemon has no free connection for this request.
    var isBusy: Bool { status == 503 && code == "busy" }

    /// The same as a library error.
    public var discoveryError: DiscoveryError { DiscoveryError(DiscoveryError.Code(code), message) }
}

extension JSONWriter {
    /// Writes the body of an error answer.
    public mutating func error(_ error: ControlError) {
        object { object in
            object.member("v", 1)
            object.key("error")
            object.object { object in
                object.member("code", error.code)
                object.member("message", error.message)
                if !error.errors.isEmpty { object.member("errors", error.errors) }
            }
        }
        endLine()
    }
}

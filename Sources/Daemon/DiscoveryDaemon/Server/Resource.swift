internal import DNSSD
internal import DiscoveryControl

/// What the path of a request names (docs/contract.md, section 6).
enum Resource: Hashable {
    /// A file of the page, over TCP alone.
    case page([String])
    case pageFacts
    case ping, status, reload, health, metrics, targetGroups
    case services, types, domains
    case unreachable
    case servicesWatch, typesWatch, domainsWatch, backendWatch
    case registrations
    case registration(id: String)
    case registrationText(id: String)

    private init?(_ path: [String], isReadOnly: Bool) {
        switch path {
        case ["page.json"] where isReadOnly: self = .pageFacts
        case _ where isReadOnly && PageFile.at(path) != nil: self = .page(path)
        case ["healthz"]: self = .health
        case ["metrics"]: self = .metrics
        case ["v1", "ping"]: self = .ping
        case ["v1", "status"]: self = .status
        case ["v1", "reload"]: self = .reload
        case ["v1", "services"]: self = .services
        case ["v1", "services", "watch"]: self = .servicesWatch
        case ["v1", "services", "unreachable"]: self = .unreachable
        case ["v1", "types"]: self = .types
        case ["v1", "types", "watch"]: self = .typesWatch
        case ["v1", "domains"]: self = .domains
        case ["v1", "domains", "watch"]: self = .domainsWatch
        case ["v1", "backend", "watch"]: self = .backendWatch
        case ["v1", "prometheus", "sd"]: self = .targetGroups
        case ["v1", "registrations"]: self = .registrations
        default:
            if path.count == 4, path.starts(with: ["v1", "registrations"]), path[3] == "txt" {
                self = .registrationText(id: path[2])
                return
            }
            guard path.count == 3, path.starts(with: ["v1", "registrations"]) else { return nil }
            self = .registration(id: path[2])
        }
    }

    private static let reading = ["GET", "HEAD"]

    private var methods: [String] {
        switch self {
        case .ping, .status, .health, .metrics, .targetGroups, .services, .types, .domains, .page, .pageFacts:
            Self.reading
        // Endless: a HEAD of it would start a query for no reader.
        case .servicesWatch, .typesWatch, .domainsWatch, .backendWatch: ["GET"]
        case .reload, .unreachable: ["POST"]
        case .registrations: Self.reading + ["POST"]
        case .registration: Self.reading + ["DELETE"]
        case .registrationText: ["PUT"]
        }
    }

    /// - Throws: 404 for no such resource, 405 with the possible methods (RFC 9110 §15.5.6).
    init(of request: ControlRequest) throws(ControlError) {
        guard let resource = Resource(request.path, isReadOnly: request.isReadOnly) else {
            let text = "/" + request.path.joined(separator: "/")
            throw ControlError(404, "no-such-resource", "\(text.quotedForMessage): the daemon has nothing of this name")
        }
        self = resource
        var allowed = methods
        if request.isReadOnly { allowed.removeAll { !Self.reading.contains($0) } }
        guard !allowed.contains(request.method) else { return }
        guard !request.isReadOnly || Self.reading.contains(request.method) else {
            throw ControlError(
                405, "read-only", "only GET and HEAD are served here; use the control socket", allow: allowed)
        }
        let list = allowed.isEmpty ? "nothing" : allowed.joined(separator: ", ")
        throw ControlError(405, "method-not-allowed", "possible here: \(list)", allow: allowed)
    }
}

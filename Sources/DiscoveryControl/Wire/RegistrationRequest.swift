public import DNSSD
public import Discovery
public import DiscoveryJSON

/// The body of `POST /v1/registrations`.
public struct RegistrationRequest: Hashable, Sendable {
    /// A check that must pass for the service to be advertised.
    public struct Check: Hashable, Sendable {
        /// `tcp`, `http:PATH`, `exec:CMD`, `unit:NAME.service`, `pid:N`.
        public var text: String
        /// Milliseconds between two checks, as requested; the range is validated when the check is created.
        public var intervalMilliseconds: Int?
        /// Milliseconds that one check may take.
        public var timeoutMilliseconds: Int?
        /// How many checks in a row must pass before the service counts as healthy.
        public var rise: Int?
        /// How many must fail before it counts as unhealthy.
        public var fall: Int?

        /// It connects to this machine: of a service of another it says nothing.
        public var looksAtThisMachine: Bool { text == "tcp" || text.hasPrefix("http:") }

        /// Creates a check with the daemon's times and counts.
        public init(_ text: String) { self.text = text }
    }

    /// What to publish.
    public var service: OfferedService
    /// What to do when the name is taken.
    public var onConflict: ConflictPolicy
    /// The check that must pass; nil for none.
    public var check: Check?

    /// Creates a request.
    public init(_ service: OfferedService, onConflict: ConflictPolicy = .rename, check: Check? = nil) {
        self.service = service
        self.onConflict = onConflict
        self.check = check
    }
}

extension JSONWriter {
    /// Writes a request as one object.
    public mutating func request(_ request: RegistrationRequest) {
        object { $0.requestMembers(request) }
    }

    /// Writes the members of a request.
    public mutating func requestMembers(_ request: RegistrationRequest) {
        let service = request.service
        if !service.isAddressRecord {
            member("name", service.name.text)
            member("type", service.type.description)
            member("domain", service.domain.text)
            member("port", Int(service.port.rawValue))
            key("txt")
            txt(service.txt)
            member("subtypes", service.subtypes)
        }
        if !service.interfaces.patterns.isEmpty { member("interfaces", service.interfaces.patterns) }
        if let family = service.family { member("family", family.rawValue) }
        if let host = service.host {
            member("host", host.name.text)
            if !host.addresses.isEmpty { member("addresses", host.addresses.map(\.description)) }
        }
        // Another name would be another host.
        if !service.isAddressRecord { member("onConflict", request.onConflict.rawValue) }
        guard let check = request.check else { return }
        member("check", check.text)
        if let interval = check.intervalMilliseconds { member("checkIntervalMilliseconds", interval) }
        if let timeout = check.timeoutMilliseconds { member("checkTimeoutMilliseconds", timeout) }
        if let rise = check.rise { member("rise", rise) }
        if let fall = check.fall { member("fall", fall) }
    }
}

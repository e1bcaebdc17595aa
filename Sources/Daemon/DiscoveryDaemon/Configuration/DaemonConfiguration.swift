public import DNSSD
public import DiscoveryControl
package import DiscoverySystem
internal import Libc
public import PeerIdentity

/// What the daemon is to do: `discoverd.yaml`, and the services of `services.d/*.yaml` in order of name. A new one is what
/// holds without any file.
public struct DaemonConfiguration: Hashable, Sendable {
    /// When a changed configuration counts.
    public enum Reload: String, Hashable, Sendable, CaseIterable {
        /// As soon as it is no longer being written.
        case auto
        /// When someone says so.
        case explicit
    }

    /// What part avahi-daemon has unless the command line says it; nil: `auto`.
    package var avahi: AvahiUse?
    /// What finds services, by the key of the version before; nil: as `avahi` says.
    package var finder: AvahiUse.Finder?
    /// When a changed configuration counts.
    public var reload = Reload.auto
    /// The types to keep warm.
    public var browse: [ServiceType] = []
    /// The services to publish; no two have the same name, type and domain.
    public var services: [RegistrationRequest] = []
    /// Domains that DNS servers serve.
    public var domains: [DomainDefinition] = []
    /// What of a link is brought into a zone.
    public var exports: [ExportRule] = []
    /// What of a link, or of another site, is published on another link.
    public var mirrors: [ExportRule] = []
    /// What daemons of other sites are told; nil: nothing.
    public var mirrorListen: ExportRule?
    /// The keys of daemons of other sites, by the names that the configuration has for them.
    public var peers: [String: KeyFingerprint] = [:]
    /// Who may publish, and how much.
    public var access = AccessRules()
    /// Where the read-only part of the API is offered over TCP; nil: nowhere.
    public var tcpListen: TCPListen?
    /// Whether the C library's questions for names below `local` are answered, where no avahi-daemon does.
    package var nss = false
    /// Where questions of DNS for names below `local` are answered.
    package var dns: [DNSListen] = []
    /// Whose labels are published; empty: nobody's.
    package var labels: [LabelSource] = []
    /// Bounds on clients of the control socket.
    package var limits = ConnectionTable.Limits()
    /// How much the log says unless the command line says it; nil: `info`.
    package var logLevel: DaemonLog.Level?

    /// What is wrong with files of packages and programs, which are left out whole: they must not keep the administrator's from counting.
    public var leftOut: [ConfigurationError] = []

    /// What is valid, and has no effect now: lines, safe for a terminal.
    public var doubts: [String] = []
}

/// A TCP listener of the daemon.
public struct TCPListen: Hashable, Sendable {
    /// The address to bind; a wildcard offers the API to the network.
    public var address: IPAddress
    /// The port.
    public var port: Port
    /// `Host` headers that are answered besides IP addresses and `localhost`: in lower case, without a port.
    public var hosts: [String] = []
}

/// An address at which DNS is served, over UDP and TCP.
package struct DNSListen: Hashable, Sendable, CustomStringConvertible {
    /// The port of DNS (RFC 1035 §4.2).
    static let standardPort: UInt16 = 53
    /// That of multicast DNS (RFC 6762 §3): who has it keeps responders of this machine from theirs.
    static let multicastPort: UInt16 = 5353

    package let address: IPAddress
    package let port: UInt16

    package init(address: IPAddress, port: UInt16) { (self.address, self.port) = (address, port) }

    package var description: String { address.family == .ipv4 ? "\(address):\(port)" : "[\(address)]:\(port)" }
}

extension DaemonConfiguration {
    /// The maximum number of services in all files together.
    public static let maximumServices = 1024

    /// Reads `discoverd.yaml` and `services.d/*.yaml`, sorted by name, from a directory; `.yml` as well. Missing settings have their
    /// defaults. Blocks while it reads, and while the name service looks up groups.
    /// - Parameter dropIns: directories with further services, less important ones last.
    /// - Throws: all errors: unknown keys, wrong types, bad values, duplicates.
    public static func load(
        directory: String, dropIns: [String] = []
    ) throws(ConfigurationError) -> DaemonConfiguration {
        try load(directory: directory, dropIns: dropIns, hostName: NameTemplate.hostName)
    }

    /// - Parameter hostName: replaces `%h`.
    package static func load(
        directory: String, dropIns: [String] = [], hostName: String,
        groupID: (String) -> UInt32? = Accounts.groupID(named:), hasUser: (String) -> Bool = Accounts.hasUser(named:)
    ) throws(ConfigurationError) -> DaemonConfiguration {
        var configuration = DaemonConfiguration()
        configuration.access.ownUserID = getuid()
        var services = ServiceList(hostName: hostName)
        let faults = ConfigurationFaults()
        let main = ConfigurationFiles.present("\(directory)/discoverd")
        if let fault = ConfigurationFiles.both(main) { faults.note(fault) }
        for file in main.prefix(1) {
            faults.reading { () throws(ConfigurationError) in
                guard let root = try document(file, faults, isOthers: false) else { return }
                try configuration.read(root, services: &services, groupID: groupID)
            }
        }
        configuration.access.groupID = groupID(configuration.access.group)
        let own = "\(directory)/services.d"
        var refused: [ConfigurationError] = []
        let trusted = ConfigurationFiles.trusted(dropIns) { refused.append($0) }
        let isOwn = { (file: String) in file.hasPrefix("\(own)/") }
        let files = faults.reading { () throws(ConfigurationError) in
            try ConfigurationFiles.dropIns(in: [own] + trusted) { fault in
                if isOwn(fault.file) { faults.note(fault) } else { refused.append(fault) }
            }
        }
        configuration.leftOut = refused
        for file in (files ?? []).filter(isOwn) {
            faults.reading { () throws(ConfigurationError) in
                if let root = try document(file, faults, isOthers: false) { try services.read(dropIn: root) }
            }
        }
        try faults.check()
        // Last, so that what they have in common with the administrator's is theirs that is wrong.
        for file in (files ?? []).filter({ !isOwn($0) }) {
            let faults = ConfigurationFaults()
            var more = services
            do throws(ConfigurationError) {
                if let root = try document(file, faults, isOthers: true) { try more.read(dropIn: root) }
                try faults.check()
                services = more
                configuration.doubts += faults.doubts
            } catch {
                configuration.leftOut.append(error)
            }
        }
        configuration.services = services.definitions
        configuration.doubts += faults.doubts + configuration.access.doubts(hasUser: hasUser)
        return configuration
    }

    private static func document(
        _ file: String, _ faults: ConfigurationFaults, isOthers: Bool
    ) throws(ConfigurationError) -> YAMLValue? {
        let bytes = try ConfigurationFiles.read(file, atMost: YAMLSource.maximumSize, isOthers: isOthers)
        guard let bytes else { return nil }
        guard let root = try YAMLSource.parse(bytes, file: file) else { return nil }
        let value = YAMLValue(node: root, file: file, name: "the file", faults: faults)
        return value.isNull ? nil : value
    }

    private mutating func read(
        _ root: YAMLValue, services: inout ServiceList, groupID: (String) -> UInt32?
    ) throws(ConfigurationError) {
        let mapping = try YAMLMapping(
            root,
            keys: [
                "alias", "avahi", "browse", "services", "domains", "export", "mirror", "mirror-listen", "peers",
                "access", "dns", "labels", "listen", "limits", "log-level", "nss", "reload",
            ], old: ["backend", "finder"])
        avahi = mapping.word("avahi")
        readOldKeys(mapping)
        logLevel = mapping.word("log-level")
        reload = mapping.word("reload") ?? reload
        browse =
            mapping.read("browse") { value throws(ConfigurationError) in try Self.types(value, unique: true) } ?? browse
        domains = mapping.read("domains", DomainDefinition.list) ?? domains
        exports = mapping.read("export", ExportRule.rules) ?? exports
        if let value = mapping["export"] {
            for rule in exports where !domains.contains(where: { $0.publishes(in: rule.domain) }) {
                value.faults.note(value.error("\(rule.domain) has no entry with a key in domains"))
            }
        }
        let sites = mapping.read("peers", PeerKeys.read)
        peers = sites?.keys ?? peers
        let (known, old) = (mapping["peers"] == nil ? [] : sites?.names, access)
        mirrors =
            mapping.read("mirror") { value throws(ConfigurationError) in try ExportRule.mirrors(value, known) }
            ?? mirrors
        mirrorListen =
            mapping.read("mirror-listen") { value throws(ConfigurationError) in
                try ExportRule(listen: value, known)
            } ?? nil
        services.mirrored = mirrors.compactMap(\.hostEnding)
        access =
            mapping.read("access") { value throws(ConfigurationError) in
                try AccessRules(value, into: old, groupID: groupID)
            } ?? access
        tcpListen = mapping.read("listen", TCPListen.init(_:)) ?? tcpListen
        nss = mapping.read("nss") { value throws(ConfigurationError) in try value.truth() } ?? nss
        dns = mapping.read("dns", DNSListen.list) ?? dns
        labels = mapping.read("labels", LabelSource.list) ?? labels
        limits = mapping.read("limits", ConnectionTable.Limits.init(_:)) ?? limits
        mapping.read("limits") { value throws(ConfigurationError) in try access.readQuotas(value) }
        mapping.read("alias") { value throws(ConfigurationError) in try services.read(aliases: value) }
        mapping.read("services") { value throws(ConfigurationError) in try services.read(list: value) }
    }

    /// `backend` and `finder`, which `avahi` is in the place of.
    private mutating func readOldKeys(_ mapping: YAMLMapping) {
        let backend = mapping.read("backend") { value throws(ConfigurationError) in
            try value.word(AvahiUse.Backend.self, named: AvahiUse.Backend.init(named:))
        }
        let named: AvahiUse.Finder? = mapping.word("finder")
        guard let first = mapping["backend"] ?? mapping["finder"] else { return }
        guard mapping["avahi"] == nil else {
            return first.faults.note(first.error("\(first.name) is an old key, and avahi says the same: remove it"))
        }
        let now = AvahiUse.ofOld[AvahiUse.Old(backend ?? .auto, named ?? .auto)]
        (avahi, finder) = (now?.use, now?.finder)
        first.faults.doubt(
            "\(first.place): \(first.name) is an old key, for this version only: 'discoverd setup config' writes "
                + "avahi: \((now?.use ?? .auto).rawValue)")
    }

    /// Service types of a list.
    static func types(_ value: YAMLValue, unique: Bool = false) throws(ConfigurationError) -> [ServiceType] {
        var types: [ServiceType] = []
        for entry in try value.list(atMost: 256) {
            value.faults.reading { () throws(ConfigurationError) in
                let type = try entry.parsed(ServiceType.init(named:))
                if try entry.text() == "all" {
                    entry.faults.doubt("\(entry.place): all is the type \(type), and not every type")
                }
                if unique, types.contains(type) { throw entry.error("\(type) is there twice") }
                types.append(type)
            }
        }
        return types
    }
}

/// A service's name with `%h` for the host's and `%%` for a per cent sign.
enum NameTemplate {
    /// - Throws: `.invalidServiceName` for any other `%`.
    static func expand(_ text: String, host: String) throws(DiscoveryError) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var result = String.UnicodeScalarView()
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "%" else {
                result.append(scalar)
                continue
            }
            switch scalars.next() {
            case "h": result.append(contentsOf: host.unicodeScalars)
            case "%": result.append("%")
            default:
                throw DiscoveryError(
                    .invalidServiceName, "\(text.quotedForMessage): after % only h (the host's name) and % are known")
            }
        }
        return String(result)
    }

    /// This machine's name without its domain.
    static var hostName: String { Environment.hostLabel ?? "localhost" }
}

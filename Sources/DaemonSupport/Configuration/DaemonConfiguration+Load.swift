internal import DNSSD
internal import Glibc

extension DaemonConfiguration {
    /// The most services of all files together.
    public static let maximumServices = 1024

    /// Reads `discoverd.yaml` and `services.d/*.yaml`, in order of name, in a directory. What is not there holds its
    /// default. Blocks while it reads, and while the name service looks up groups.
    /// - Throws: the first thing that is wrong: an unknown key, a wrong type, a bad value, something twice.
    public static func load(directory: String) throws(ConfigurationError) -> DaemonConfiguration {
        try load(directory: directory, hostName: NameTemplate.hostName)
    }

    /// - Parameter hostName: what `%h` stands for.
    package static func load(
        directory: String, hostName: String, groupID: (String) -> UInt32? = Accounts.groupID(named:)
    ) throws(ConfigurationError) -> DaemonConfiguration {
        var configuration = DaemonConfiguration()
        configuration.access.ownUserID = getuid()
        var services = ServiceList(hostName: hostName)
        let main = "\(directory)/discoverd.yaml"
        if let root = try document(main) {
            try configuration.read(root, services: &services, groupID: groupID)
        }
        configuration.access.groupID = groupID(configuration.access.group)
        for file in try ConfigurationFiles.dropIns(in: "\(directory)/services.d") {
            if let root = try document(file) { try services.read(dropIn: root) }
        }
        configuration.services = services.definitions
        return configuration
    }

    private static func document(_ file: String) throws(ConfigurationError) -> YAMLValue? {
        guard let bytes = try ConfigurationFiles.read(file, atMost: YAMLSource.maximumSize) else { return nil }
        guard let root = try YAMLSource.parse(bytes, file: file) else { return nil }
        let value = YAMLValue(node: root, file: file, name: "the file")
        return value.isNull ? nil : value
    }

    private mutating func read(
        _ root: YAMLValue, services: inout ServiceList, groupID: (String) -> UInt32?
    ) throws(ConfigurationError) {
        let mapping = try YAMLMapping(
            root, keys: ["backend", "browse", "services", "access", "listen", "limits", "log-level"])
        backend = try mapping["backend"]?.word(Backend.self)
        logLevel = try mapping["log-level"]?.word(LogLevel.self)
        if let value = mapping["browse"] { browse = try Self.types(value, unique: true) }
        if let value = mapping["access"] { access = try AccessRules(value, into: access, groupID: groupID) }
        if let value = mapping["listen"] { tcpListen = try TCPListen(value) }
        if let value = mapping["limits"] {
            limits = try ControlLimits(value)
            try access.readQuotas(value)
        }
        if let value = mapping["services"] { try services.read(list: value) }
    }

    /// Service types of a list.
    static func types(_ value: YAMLValue, unique: Bool = false) throws(ConfigurationError) -> [ServiceType] {
        var types: [ServiceType] = []
        for entry in try value.list(atMost: 256) {
            let text = try entry.text()
            let type = try entry.reading { () throws(DiscoveryError) in try ServiceType(text) }
            if unique, types.contains(type) { throw entry.error("\(type) is there twice") }
            types.append(type)
        }
        return types
    }
}

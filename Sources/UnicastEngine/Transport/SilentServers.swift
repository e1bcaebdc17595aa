/// Remembers servers that did not answer lately, so that others are asked first.
struct SilentServers: Sendable {
    /// How long a server is remembered.
    private static let memory = Duration.seconds(30)
    private static let maximum = 64

    private var until: [ServerAddress: Duration] = [:]

    /// Remembers a server that did not answer.
    mutating func add(_ server: ServerAddress, at time: Duration) {
        until = until.filter { $0.value > time }
        guard until.count < Self.maximum || until[server] != nil else { return }
        until[server] = time + Self.memory
    }

    /// Forgets a server, because it answered.
    mutating func remove(_ server: ServerAddress) { until[server] = nil }

    /// Returns the servers in their order, but the silent ones last.
    func sorted(_ servers: [ServerAddress], at time: Duration) -> [ServerAddress] {
        let isSilent = { (server: ServerAddress) in (until[server] ?? .zero) > time }
        return servers.filter { !isSilent($0) } + servers.filter(isSilent)
    }
}

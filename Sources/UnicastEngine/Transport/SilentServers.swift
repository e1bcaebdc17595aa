/// Servers that did not answer of late, so that others are asked before them. A few are remembered.
struct SilentServers: Sendable {
    /// For how long.
    private static let memory = Duration.seconds(30)
    private static let maximum = 64

    private var until: [ServerAddress: Duration] = [:]

    /// One did not answer.
    mutating func add(_ server: ServerAddress, at time: Duration) {
        until = until.filter { $0.value > time }
        guard until.count < Self.maximum || until[server] != nil else { return }
        until[server] = time + Self.memory
    }

    /// One answered.
    mutating func remove(_ server: ServerAddress) { until[server] = nil }

    /// In their order, but the silent ones last.
    func sorted(_ servers: [ServerAddress], at time: Duration) -> [ServerAddress] {
        let isSilent = { (server: ServerAddress) in (until[server] ?? .zero) > time }
        return servers.filter { !isSilent($0) } + servers.filter(isSilent)
    }
}

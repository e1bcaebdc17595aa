package import DNSSD

/// Numbers of a link's hosts in a zone: the smallest that is free, kept as long as somebody has it. The link's name of a host could be `wpad`,
/// or `ns`. A value.
package struct HostNumbers: Sendable {
    private var numbers: [HostName: Int] = [:]
    private var users: [HostName: Set<ObjectIdentifier>] = [:]
    private var hosts: [ObjectIdentifier: HostName] = [:]

    package init() {}

    /// The number of a host.
    /// - Parameter user: what has it from now on, until it has another host's, or `release`.
    package mutating func number(of host: HostName, for user: ObjectIdentifier) -> Int {
        if hosts[user] != host {
            release(user)
            hosts[user] = host
            users[host, default: []].insert(user)
        }
        if let number = numbers[host] { return number }
        let taken = Set(numbers.values)
        let number = (1...taken.count + 1).first { !taken.contains($0) } ?? taken.count + 1
        numbers[host] = number
        return number
    }

    package mutating func release(_ user: ObjectIdentifier) {
        guard let host = hosts.removeValue(forKey: user) else { return }
        users[host]?.remove(user)
        guard users[host]?.isEmpty ?? true else { return }
        users[host] = nil
        numbers[host] = nil
    }

    /// The host's name within the zone: the gateway's own with the host's number at its first label, as in `gw-1.hosts`.
    /// - Parameter prefix: the gateway's own name.
    package static func label(_ number: Int, _ prefix: String) -> String {
        let first = prefix.prefix { $0 != "." }
        return "\(first.prefix(40))-\(number)\(prefix.dropFirst(first.count))"
    }
}

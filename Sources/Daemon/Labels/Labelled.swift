internal import DNSSD
package import DiscoveryJSON

/// A container or a unit, as far as it says something of itself. A value.
package struct Labelled: Equatable, Sendable {
    /// A port of this machine that leads to a container.
    package struct PublishedPort: Hashable, Sendable {
        package let transport: String
        package let host: Int
        /// Other hosts reach it.
        package let isOpen: Bool
    }

    /// Which ports of this machine are its own.
    package enum Ports: Hashable, Sendable {
        /// Any: it is in the network of this machine.
        case any
        case published([PublishedPort])
    }

    /// What it is called by whoever has started it: any text; the beginning of it, where it is long.
    package var name: String
    /// How many bytes all of it has.
    package let nameLength: Int
    /// What it says, without `io.discoverd.`, in its order; values are any text.
    package var labels: [(key: String, value: String)] = []
    /// The rules of Traefik's routers.
    package var rules: [String] = []
    package var ports = Ports.any
    /// It runs, and is healthy where it has a health check.
    package var isUp = false
    /// It is a unit of systemd, whose file is root's: it may name a check.
    package var isUnit = false
    /// What is wrong with it as a whole.
    package var problem: String?

    package init(name: String) {
        self.name = String(decoding: name.utf8.prefix(Self.longestName), as: UTF8.self)
        nameLength = name.utf8.count
    }

    /// Whether it says anything.
    package var saysNothing: Bool { labels.isEmpty && rules.isEmpty && problem == nil }

    /// A label's key as its author writes it: part of it, as it may be any text.
    func shown(_ key: String) -> String {
        let key = String(decoding: key.utf8.prefix(64), as: UTF8.self)
        guard isUnit else { return (Self.prefix + key).quotedForMessage }
        let own = key.hasPrefix("txt.") ? "Txt=\(key.dropFirst(4))" : key.prefix(1).uppercased() + key.dropFirst()
        return (UnitLabels.prefix + own).quotedForMessage
    }

    /// The keys that there are, as their author writes them.
    var keys: String {
        isUnit ? "Publish, Name, Port, Txt, Alias and Check" : "publish, name, port, txt.KEY and alias"
    }

    package static let prefix = "io.discoverd."
    /// More labels of ours are an error, and not read.
    package static let maximumLabels = 64
    private static let longestName = 256
    private static let maximumPorts = 1024
    /// Of all labels and rules of one, in bytes: 1024 of them are kept.
    package static let longestLabels = 16 * 1024

    package static func == (one: Labelled, other: Labelled) -> Bool {
        one.name == other.name && one.nameLength == other.nameLength && one.isUnit == other.isUnit
            && one.rules == other.rules && one.ports == other.ports && one.isUp == other.isUp
            && one.problem == other.problem && one.labels.count == other.labels.count
            && zip(one.labels, other.labels).allSatisfy { $0.key == $1.key && $0.value == $1.value }
    }
}

extension Labelled {
    /// What a runtime's inspection says (`GET /containers/ID/json`); nil where that is no container's.
    /// - Parameter readsTraefik: with the rules of Traefik's routers.
    package init?(inspection json: JSONValue, readsTraefik: Bool) {
        guard let name = json["Name"]?.string, let state = json["State"] else { return nil }
        self.init(name: name.hasPrefix("/") ? String(name.dropFirst()) : name)
        let labels = json["Config"]?["Labels"]?.members ?? []
        var size = 0
        for label in labels where Self.concerns(label.key, readsTraefik: readsTraefik) {
            size += label.key.utf8.count + (label.value.string?.utf8.count ?? 0)
            guard size <= Self.longestLabels else {
                problem = "its labels are longer than \(Self.longestLabels >> 10) KiB"
                break
            }
            guard let value = label.value.string else { continue }
            if label.key.hasPrefix(Self.prefix) {
                guard self.labels.count < Self.maximumLabels else {
                    problem = "it has more than \(Self.maximumLabels) labels"
                    break
                }
                self.labels.append((String(label.key.dropFirst(Self.prefix.count)), value))
            } else if rules.count < Self.maximumLabels {
                rules.append(value)
            }
        }
        if labels.contains(where: { $0.key == "traefik.enable" && $0.value.string?.lowercased() == "false" }) {
            rules = []
        }
        ports = json["HostConfig"]?["NetworkMode"]?.string == "host" ? .any : .published(Self.ports(json))
        isUp = Self.isUp(state)
    }

    /// Whether a label matters: events have them, and few containers.
    package static func concerns(_ key: String, readsTraefik: Bool) -> Bool {
        key.hasPrefix(prefix) || readsTraefik && isRule(key)
    }

    private static func isRule(_ key: String) -> Bool {
        key.hasPrefix("traefik.http.routers.") && key.hasSuffix(".rule")
    }

    private static func isUp(_ state: JSONValue) -> Bool {
        guard state["Running"]?.bool == true, state["Paused"]?.bool != true, state["Restarting"]?.bool != true else {
            return false
        }
        // Podman has an empty status without a check, Docker none or `none`.
        return ["", "none", "healthy"].contains(state["Health"]?["Status"]?.string ?? "")
    }

    /// `"80/tcp": [{"HostIp": "", "HostPort": "8081"}]`
    private static func ports(_ json: JSONValue) -> [PublishedPort] {
        var ports: [PublishedPort] = []
        for entry in json["NetworkSettings"]?["Ports"]?.members ?? [] {
            let transport = entry.key.split(separator: "/").last.map(String.init) ?? ""
            for binding in entry.value.array ?? [] where ports.count < maximumPorts {
                guard let number = binding["HostPort"]?.string.flatMap({ Int($0) }), 1...65_535 ~= number else {
                    continue
                }
                let address = binding["HostIp"]?.string ?? ""
                let isOpen = !(address.hasPrefix("127.") || address == "::1")
                let port = PublishedPort(transport: transport, host: number, isOpen: isOpen)
                if !ports.contains(port) { ports.append(port) }
            }
        }
        return ports
    }
}

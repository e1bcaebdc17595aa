internal import DNSSD
package import DiscoveryJSON

/// The lines of a runtime's event stream (`GET /events`). A value: takes bytes as they come, and is bounded.
package struct RuntimeEvents: Sendable {
    /// What a line says.
    package enum Event: Hashable, Sendable {
        /// A container with labels that matter runs no longer.
        case stopped(String)
        /// One may be otherwise now.
        case changed(String)
        /// A line was too long, or no event: nobody knows what it said.
        case lost
    }

    /// A line has all labels of a container.
    package static let longestLine = 256 * 1024
    private static let longestID = 128

    private let readsTraefik: Bool
    private var line: [UInt8] = []
    private var isSkipping = false

    package init(readsTraefik: Bool) { self.readsTraefik = readsTraefik }

    /// - Parameter isKnown: whether a container has had labels.
    package mutating func received(_ bytes: [UInt8], isKnown: (String) -> Bool) -> [Event] {
        var events: [Event] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            let whole = line + rest[..<end]
            let isWhole = !isSkipping && whole.count <= Self.longestLine
            (line, isSkipping) = ([], false)
            rest = rest[(end + 1)...]
            if !isWhole { events.append(.lost) } else if let event = event(whole, isKnown) { events.append(event) }
        }
        if isSkipping || line.count + rest.count > Self.longestLine {
            (line, isSkipping) = ([], true)
        } else {
            line += rest
        }
        return events
    }

    private func event(_ line: [UInt8], _ isKnown: (String) -> Bool) -> Event? {
        guard line.contains(where: { $0 > 0x20 }) else { return nil }
        guard let json = try? JSONReader.read(line), json.members != nil else { return .lost }
        guard json["Type"]?.string ?? "container" == "container" else { return nil }
        let actor = json["Actor"]
        guard let id = actor?["ID"]?.string ?? json["id"]?.string, Self.isID(id) else { return nil }
        let attributes = actor?["Attributes"]?.members ?? []
        guard isKnown(id) || attributes.contains(where: { Labelled.concerns($0.key, readsTraefik: readsTraefik) })
        else { return nil }
        // Docker says `health_status: healthy`.
        let action = (json["Action"]?.string ?? json["status"]?.string ?? "").prefix { $0 != ":" }
        switch action {
        case "die", "died", "stop", "destroy", "remove", "pause": return .stopped(id)
        case "start", "restart", "unpause", "health_status", "rename", "update", "connect", "disconnect":
            return .changed(id)
        default: return nil
        }
    }

    /// A container's id goes into a path.
    package static func isID(_ text: String) -> Bool {
        1...longestID ~= text.utf8.count && text.utf8.allSatisfy(\.isASCIIAlphanumeric)
    }

    /// The containers of a list (`GET /containers/json`) that have labels that matter, or of which it says none; nil where it is no list.
    package static func ids(ofList json: JSONValue, readsTraefik: Bool) -> [String]? {
        json.array?.filter { container in
            guard let labels = container["Labels"] else { return true }
            return labels.members?.contains { Labelled.concerns($0.key, readsTraefik: readsTraefik) } ?? false
        }.compactMap { $0["Id"]?.string }.filter(isID)
    }
}

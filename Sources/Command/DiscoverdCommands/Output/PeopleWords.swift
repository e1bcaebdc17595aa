#if Commands
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

/// What the daemon finds with and publishes through, as its status says it, in words for people. A value.
struct DaemonWork {
    enum Part: String {
        case finds = "finder"
        case publishes = "publisher"
    }

    let part: Part
    /// Nil where nobody has asked yet.
    let answers: Bool?
    /// Why it does not answer.
    private let reason: String?
    /// This machine's name, and why it is not the usual one; empty where that is not known.
    private let name: String
    /// What does it; nil where nothing does.
    private let actor: String?

    init(_ part: Part, of status: JSONValue) {
        self.part = part
        let own = status[part.rawValue]
        // What publishes, rather than who was to decide it.
        let kind = own?["by"]?.string ?? own?["kind"]?.string ?? ""
        actor =
            switch (part, kind) {
            case (_, "avahi"), (.publishes, "system"): "through avahi-daemon"
            case (.publishes, "wire"): "by itself"
            case (.finds, "wire"): nil
            case (.publishes, "auto"): nil
            case (_, let other): other.isEmpty ? nil : "with \(other.escapedForTerminal)"
            }
        answers =
            switch own?["state"]?.string {
            case "available", "recovered": true
            case "unavailable", "lost": false
            default: nil
            }
        let (host, wanted) = (own?["host"]?.string, own?["wantedHost"]?.string)
        name =
            (host.map { ", as \($0.escapedForTerminal)" } ?? "")
            + (wanted.map { ": another host has \($0.escapedForTerminal), which is asked for again" } ?? "")
        reason = own?["reason"]?.string?.escapedForTerminal
    }

    /// What follows the part's name: `on eth0, wlan0`, `through avahi-daemon`, `nothing: REASON`.
    /// - Parameter links: the names of the links that services are found on.
    func text(links: [String]) -> String {
        let place =
            actor
            ?? (part == .publishes
                ? "by itself" : links.isEmpty ? "on its links" : "on \(links.joined(separator: ", "))")
        switch answers {
        case true: return place + name
        case false: return "nothing\(reason.map { ": \($0)" } ?? " now")"
        default: return part == .publishes ? "nothing yet" : "nothing yet (\(place))"
        }
    }

    /// The links that services are found on, without `lo` unless it is all there is.
    static func links() -> [String] {
        let all = SystemInterfaces.usable(by: .all).map(\.interface.name)
        let others = all.filter { $0 != "lo" }
        return others.isEmpty ? all : others
    }
}

extension PublicationState {
    /// For people: four words.
    var word: String {
        switch self {
        case .established: "published"
        case .waiting, .registering: "waiting"
        case .conflicted: "failed"
        default: rawValue
        }
    }
}

extension PublicationState {
    /// What a person looks at first has the lowest.
    var urgency: Int {
        switch self {
        case .conflicted, .failed: 0
        case .waiting, .registering: 1
        case .established: 3
        default: 2
        }
    }
}

extension RegistrationStatus.Origin {
    /// For people.
    var word: String {
        switch self {
        case .configuration: "configuration"
        case .detached: "--detach"
        case .attached: "a command"
        case .labels: "a label"
        }
    }
}
#endif

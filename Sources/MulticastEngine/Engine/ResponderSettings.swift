import System

/// What avahi-daemon's configuration says to those who share its port (avahi-daemon.conf(5)).
package struct ResponderSettings: Equatable {
    /// Where avahi-daemon reads it.
    package static let path = "/etc/avahi/avahi-daemon.conf"
    /// A configuration is short; what is longer is none.
    private static let limit = 1 << 20

    /// `disallow-other-stacks`: if we came first it would go without IPv4.
    package private(set) var disallowsOthers = false
    /// `check-response-ttl`: packets that a router forwarded are not believed.
    package private(set) var checksTTL = false
    /// `enable-reflector`: this machine repeats what others say, so that what it sends need not be its own.
    package private(set) var reflects = false

    /// The settings in a configuration's text; its last word counts.
    package init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace }.lowercased() }
            guard parts.count == 2, !parts[0].hasPrefix("#"), !parts[0].hasPrefix(";") else { continue }
            switch parts[0] {
            case "disallow-other-stacks": disallowsOthers = parts[1] == "yes"
            case "check-response-ttl": checksTTL = parts[1] == "yes"
            case "enable-reflector": reflects = parts[1] == "yes"
            default: break
            }
        }
    }

    /// The machine's; what cannot be read says nothing.
    package static var current: ResponderSettings {
        ResponderSettings(SystemFile.text(of: path, atMost: limit) ?? "")
    }
}

import DiscoverySystem

/// The settings of avahi-daemon that matter to a program that shares its port (avahi-daemon.conf(5)).
package struct ResponderSettings: Equatable {
    /// The path of avahi-daemon's configuration.
    package static let path = "/etc/avahi/avahi-daemon.conf"
    /// The longest configuration that is read, in bytes.
    private static let limit = 1 << 20

    /// `disallow-other-stacks`: if we started first, avahi-daemon would do without IPv4.
    package private(set) var disallowsOthers = false
    /// `check-response-ttl`: ignores packets that a router forwarded.
    package private(set) var checksTTL = false
    /// `enable-reflector`: this machine repeats what others send, so a packet from it need not be its own.
    package private(set) var reflects = false

    /// Reads the text of a configuration; of a repeated setting, the last counts.
    package init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace }.lowercased() }
            guard parts.count == 2, !parts[0].hasPrefix("#"), !parts[0].hasPrefix(";") else { continue }
            switch parts[0] {
            case "disallow-other-stacks": disallowsOthers = Self.isYes(parts[1])
            case "check-response-ttl": checksTTL = Self.isYes(parts[1])
            case "enable-reflector": reflects = Self.isYes(parts[1])
            default: break
            }
        }
    }

    /// Whether avahi-daemon takes a value for true: it looks at the first letter.
    private static func isYes(_ value: String) -> Bool { value.first.map("yt1".contains) ?? false }

    /// This machine's settings; the defaults if they cannot be read.
    package static var current: ResponderSettings {
        ResponderSettings(SystemFile.text(of: path, atMost: limit) ?? "")
    }
}

import Libc

/// The process's environment and the machine's name.
package enum Environment {
    /// A variable; nil if it is unset or empty.
    package static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The first directory that systemd created for a purpose, such as `RUNTIME_DIRECTORY`; colons separate several
    /// (systemd.exec(5)).
    package static func directory(_ name: String) -> String? {
        value(name)?.split(separator: ":").first.map(String.init)
    }

    /// This machine's name (gethostname(2)); nil if it has none or it is not UTF-8.
    package static var hostName: String? {
        // HOST_NAME_MAX is 64. The last byte stays 0, because a truncated name need not be terminated.
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let name = String(validating: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return name == "" ? nil : name
    }

    /// The name up to the first dot.
    package static var hostLabel: String? {
        guard let label = hostName?.prefix(while: { $0 != "." }), !label.isEmpty else { return nil }
        return String(label)
    }

    /// The directories for a command's configuration, the one that counts first: systemd's, the user's own (XDG Base Directory Specification), and the
    /// machine's.
    package static var configurationDirectories: [String] {
        var directories: [String] = []
        if let directory = directory("CONFIGURATION_DIRECTORY") { directories.append(directory) }
        if geteuid() != 0 {
            let home = value("HOME").map { "\($0)/.config" }
            if let own = value("XDG_CONFIG_HOME") ?? home, own.hasPrefix("/") { directories.append("\(own)/discoverd") }
        }
        return directories + ["/etc/discoverd"]
    }

    /// The directory for a command's state: systemd's, or else root's or the user's own (XDG Base Directory Specification); nil if the
    /// environment names none. Root's is not `/var/lib/discoverd`, which belongs to the daemon's user.
    package static var stateDirectory: String? {
        if let directory = directory("STATE_DIRECTORY") { return directory }
        if geteuid() == 0 { return "/var/lib/discoverd-root" }
        if let state = value("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/discoverd" }
        return value("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.local/state/discoverd" : nil }
    }
}

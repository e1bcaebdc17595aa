import Glibc

/// What a process was given, and what its machine is called.
package enum Environment {
    /// A variable, if it is set and not empty.
    package static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The first of the directories that systemd made for a purpose, as in `RUNTIME_DIRECTORY`; several are separated by colons
    /// (systemd.exec(5)).
    package static func directory(_ name: String) -> String? {
        value(name)?.split(separator: ":").first.map(String.init)
    }

    /// This machine's name (gethostname(2)); nil when it has none, or one that is not UTF-8.
    package static var hostName: String? {
        // HOST_NAME_MAX is 64; the last byte stays 0, since a name that is cut need not end with one.
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let name = String(validating: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return name == "" ? nil : name
    }

    /// The same up to the first dot.
    package static var hostLabel: String? {
        guard let label = hostName?.prefix(while: { $0 != "." }), !label.isEmpty else { return nil }
        return String(label)
    }
}

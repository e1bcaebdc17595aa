internal import Libc

/// Properties of a terminal, from the environment and the system.
package enum TerminalText {
    /// Whether text is UTF-8 (setlocale(3): LC_ALL, then LC_CTYPE, then LANG). Assumes UTF-8 if none is set, as terminals do.
    package static func isUTF8(_ variable: (String) -> String? = environment) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(variable).first { !$0.isEmpty }
        guard let locale = locale?.lowercased() else { return true }
        return locale.contains("utf-8") || locale.contains("utf8")
    }

    /// The columns of the terminal behind a descriptor, else `COLUMNS`; nil if both are unknown.
    package static func columns(_ descriptor: Int32, _ variable: (String) -> String? = environment) -> Int? {
        if let text = variable("COLUMNS"), let count = Int(text), (1...100_000).contains(count) { return count }
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    package static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}

/// The name of a process: what the kernel keeps of it, and what its command line has of the rest.
enum ProcessName {
    /// The bytes that the kernel keeps (prctl(2), PR_SET_NAME).
    static let kept = 15

    /// The first 15 bytes; nil where there is no such process.
    static func asKept(of process: Int32) -> String? {
        SystemFile.text(of: "/proc/\(process)/comm", atMost: 64)?.split(separator: "\n").first.map(String.init)
    }

    /// The whole name, where the command line begins with it.
    static func whole(of process: Int32) -> String? {
        guard let start = asKept(of: process) else { return nil }
        guard start.utf8.count == kept else { return start }
        let command = SystemFile.text(of: "/proc/\(process)/cmdline", atMost: 4096)?.split(separator: "\0").first
        let name = command?.split(separator: "/").last.map(String.init) ?? start
        return name.hasPrefix(start) && name.utf8.count <= 64 ? name : start
    }
}

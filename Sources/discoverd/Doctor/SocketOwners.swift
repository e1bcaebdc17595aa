/// The programs that hold sockets, as far as `/proc` may be read.
enum SocketOwners {
    /// The name of a program for each socket's inode.
    static func find(_ inodes: Set<String>) -> [String: String] {
        var owners: [String: String] = [:]
        for process in SystemFiles.names(in: "/proc") where process.allSatisfy(\.isNumber) {
            for descriptor in SystemFiles.names(in: "/proc/\(process)/fd") {
                guard let target = SystemFiles.target(of: "/proc/\(process)/fd/\(descriptor)"),
                    target.hasPrefix("socket:["), target.hasSuffix("]")
                else { continue }
                let inode = String(target.dropFirst("socket:[".count).dropLast())
                if inodes.contains(inode) { owners[inode] = name(of: process) }
            }
        }
        return owners
    }

    private static func name(of process: String) -> String {
        SystemFiles.lines("/proc/\(process)/comm")?.first ?? "process \(process)"
    }
}

import Foundation

/// A running process's resource usage, from /proc.
struct ProcessUsage {
    /// CPU time, in user and system.
    var seconds = 0.0
    var kilobytes = 0
    /// The most that it had.
    var peakKilobytes = 0
    var threads = 0
    var descriptors = 0

    init(_ pid: pid_t) {
        descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        for line in status.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            if line.hasPrefix("VmRSS:"), words.count > 1 { kilobytes = Int(words[1]) ?? 0 }
            if line.hasPrefix("VmHWM:"), words.count > 1 { peakKilobytes = Int(words[1]) ?? 0 }
            if line.hasPrefix("Threads:"), words.count > 1 { threads = Int(words[1]) ?? 0 }
        }
        // Fields 14 and 15 of proc(5), in clock ticks; counted after the name, which may contain spaces.
        let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        let fields = (stat.components(separatedBy: ") ").last ?? "").split(separator: " ")
        if fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) {
            seconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }
}

extension Duration {
    /// For people: "1.25 s".
    var seconds: String { String(format: "%.2f s", self / .seconds(1)) }
}

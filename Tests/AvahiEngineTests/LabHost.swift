import DiscoveryTesting
import Foundation
import Glibc

/// The lab host that these tests run on.
enum LabHost {
    struct Failed: Error { var status: Int32 }

    /// The part of the checks that this process is for: LAB_PART, as 0/4; all without it.
    static func part<Check>(of checks: [Check]) -> [Check] {
        let words = ProcessInfo.processInfo.environment["LAB_PART"]?.split(separator: "/").compactMap { Int($0) } ?? []
        guard words.count == 2, words[1] > 0 else { return checks }
        return checks.enumerated().filter { $0.offset % words[1] == words[0] }.map(\.element)
    }

    /// How many services count as many.
    static let crowd = ProcessInfo.processInfo.environment["TEST_ALL"] == nil ? 200 : 1000

    /// Kills and restarts avahi-daemon.
    static let backend = EngineConformance.Backend(stop: killAvahi, start: startAvahi)
    /// Unplugs and replugs the host's cable.
    static let cable = EngineConformance.Backend(
        stop: { try await setLink(isUp: false) }, start: { try await setLink(isUp: true) })

    /// Kills avahi-daemon and waits until it has ended.
    static func killAvahi() async throws {
        try await bash(
            """
            pid=$(</run/lab/avahi.pid)
            kill -KILL "$pid"
            for ((i = 0; i < 500; i++)); do
                [[ -d /proc/$pid && $(<"/proc/$pid/stat") != *') Z '* ]] || exit 0
                sleep 0.01
            done 2>/dev/null
            exit 1
            """
        )
    }

    /// Starts avahi-daemon as the lab does.
    static func startAvahi() async throws { try await bash("exec bash \"$0\" avahi") }

    /// Unplugs or replugs the host's cable.
    static func setLink(isUp: Bool) async throws { try await bash("ip link set eth0 \(isUp ? "up" : "down")") }

    private static func bash(_ script: String) async throws {
        let hostScript = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "LabTests/lab/host.sh").path(percentEncoded: false)
        let status = await withCheckedContinuation { continuation in
            // Not Foundation's Process: avahi-daemon inherits its socket, so it would wait for that too.
            Thread.detachNewThread { continuation.resume(returning: run(["/bin/bash", "-c", script, hostScript])) }
        }
        if status != 0 { throw Failed(status: status) }
    }

    /// Blocks until the program has ended.
    private static func run(_ arguments: [String]) -> Int32 {
        let argv = arguments.map { strdup($0) } + [nil]
        defer { for pointer in argv { free(pointer) } }
        var child: pid_t = 0
        let error = posix_spawn(&child, arguments[0], nil, nil, argv, environ)
        guard error == 0 else { return error }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status
    }
}

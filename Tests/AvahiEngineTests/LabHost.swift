import Foundation
import Glibc

/// The host of the lab that these tests run on.
enum LabHost {
    struct Failed: Error { var status: Int32 }

    /// Kills avahi-daemon, waits for its end, and starts it as the lab does.
    static func restartAvahi() async throws {
        let hostScript = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "LabTests/lab/host.sh").path(percentEncoded: false)
        let script = """
            pid=$(</run/lab/avahi.pid)
            kill -KILL "$pid"
            for ((i = 0; i < 500; i++)); do
                [[ -d /proc/$pid && $(<"/proc/$pid/stat") != *') Z '* ]] || break
                sleep 0.01
            done 2>/dev/null
            exec bash "$0" avahi
            """
        let status = await withCheckedContinuation { continuation in
            // Not Foundation's Process: it waits for the daemon too, which has its socket.
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

import Foundation

/// The host of the lab that these tests run on.
enum LabHost {
    struct Failed: Error { var status: Int32 }

    /// Kills avahi-daemon, waits for its end, and starts it as the lab does.
    static func restartAvahi() async throws {
        let scripts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "LabTests/lab/host.sh").path(percentEncoded: false)
        let script = """
            pid=$(</run/lab/avahi.pid)
            kill -KILL "$pid"
            for ((i = 0; i < 500; i++)); do
                [[ -d /proc/$pid && $(<"/proc/$pid/stat") != *') Z '* ]] || break
                sleep 0.01
            done
            exec bash "$0" avahi
            """
        let status = try await withCheckedThrowingContinuation { continuation in
            let process = Process()
            process.executableURL = URL(filePath: "/bin/bash")
            process.arguments = ["-c", script, scripts]
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        if status != 0 { throw Failed(status: status) }
    }
}

internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// A program that is run for a check: in a process group of its own, without input, its output thrown away.
struct CheckProcess: ~Copyable {
    /// Readable when the program has ended (pidfd_open(2)).
    let descriptor: Int32
    private let id: pid_t

    private init(id: pid_t, descriptor: Int32) {
        self.id = id
        self.descriptor = descriptor
    }

    /// Starts a program, found as a shell finds it.
    /// - Parameter command: its name and arguments; not empty.
    static func start(_ command: [String]) throws(ProbeFailure) -> CheckProcess {
        let name = (command.first ?? "").escapedForTerminal
        do throws(SystemError) {
            let child = try Program.start(command.map { Array($0.utf8) }, .nowhere, hasOwnGroup: true, isFresh: true)
            do throws(SystemError) {
                // Not waited for yet, so the number cannot be another's.
                return CheckProcess(id: child, descriptor: try Program.descriptor(of: child))
            } catch {
                _ = finish(child)
                throw error
            }
        } catch {
            throw ProbeFailure(name, code: error.code)
        }
    }

    /// Kills the rest of the process group and waits for the program.
    /// - Returns: its status, or 128 plus the number of the signal that ended it.
    consuming func end() -> Int32 {
        close(descriptor)
        return Self.finish(id)
    }

    private static func finish(_ id: pid_t) -> Int32 {
        kill(-id, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) == -1 {
            // ECHILD: SIGCHLD is ignored, which takes the status away.
            guard errno == EINTR else { return 255 }
        }
        return Program.status(status)
    }
}

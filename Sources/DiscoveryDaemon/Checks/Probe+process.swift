internal import DNSSD
internal import DiscoverySystem
internal import Libc

extension Probe {
    /// Whether a process runs; one that ended but was not waited for does not.
    func pid(_ number: Int32) throws(ProbeFailure) {
        let descriptor: Int32
        do throws(SystemError) {
            descriptor = try Program.descriptor(of: number)
        } catch {
            throw ProbeFailure("process \(number)", code: error.code)
        }
        defer { close(descriptor) }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 0) == 0 else { throw ProbeFailure("process \(number) has ended") }
    }

    /// Whether a systemd unit is active, or reloads: what `systemctl is-active` says.
    func unit(_ name: String) async throws(ProbeFailure) {
        let status = try await run(["systemctl", "is-active", "--quiet", "--", name])
        guard status != 127 else { throw ProbeFailure("systemctl is not there") }
        guard status == 0 else { throw ProbeFailure("\(name.escapedForTerminal) is not active") }
    }

    /// Whether a program ends with status 0.
    func exec(_ command: [String]) async throws(ProbeFailure) {
        let status = try await run(command)
        guard status == 0 else {
            let name = (command.first ?? "").escapedForTerminal
            throw ProbeFailure(
                status > 128 ? "\(name) was ended by signal \(status - 128)" : "\(name) ended with status \(status)")
        }
    }

    /// Runs a program and waits for it; in the end nothing of its process group is left.
    private func run(_ command: [String]) async throws(ProbeFailure) -> Int32 {
        let child = try CheckProcess.start(command)
        let outcome = await poller.wait(for: child.descriptor, POLLIN, until: deadline)
        // Whatever it started goes with it, and a program that did not end, ends now: waiting for it cannot take long.
        let status = child.end()
        switch outcome {
        case .ready: return status
        case .timedOut: throw timedOut
        case .cancelled: throw ProbeFailure("cancelled")
        }
    }
}

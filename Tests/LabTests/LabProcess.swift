import Foundation
import Glibc
import Synchronization

/// A program that a test runs: its lines as they arrive, signals to it, its end. Killed when its last reference goes.
final class LabProcess: Sendable {
    enum Output: Sendable, Hashable { case stdout, stderr }

    /// How a process ended.
    enum Exit: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// An expected event did not happen in time; the text includes the program's output.
    struct Missed: Error, CustomStringConvertible { let description: String }

    let pid: pid_t
    private let command: String
    private let output = ProcessOutput()
    private let input: Mutex<Int32?>

    /// Starts `arguments[0]`, an absolute path. Its standard input is a pipe that `closeInput()` ends.
    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        command = arguments.joined(separator: " ")
        let stdin = try Spawn.pipe()
        let stdout = try Spawn.pipe()
        let stderr = try Spawn.pipe()
        let all = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let child = Spawn.run(
            arguments,
            environment: all,
            stdin: stdin.read,
            stdout: stdout.write,
            stderr: stderr.write
        )
        for descriptor in [stdin.read, stdout.write, stderr.write] { close(descriptor) }
        guard let child else {
            let reason = String(cString: strerror(errno))
            for descriptor in [stdin.write, stdout.read, stderr.read] { close(descriptor) }
            throw Missed(description: "could not start \(arguments[0]): \(reason)")
        }
        pid = child
        input = Mutex(stdin.write)
        let output = output
        // Threads, because reading and waiting block, and the tests share only a few threads.
        Thread.detachNewThread { LineReader.read(stdout.read) { output.append($0, to: .stdout) } }
        Thread.detachNewThread { LineReader.read(stderr.read) { output.append($0, to: .stderr) } }
        Thread.detachNewThread {
            Spawn.waitUntilZombie(child)
            output.end { Spawn.reap(child) }
        }
    }

    deinit {
        closeInput()
        signal(SIGKILL)
    }

    /// Sends a signal, unless the process has been reaped.
    func signal(_ number: Int32) { output.whileAlive { _ = Glibc.kill(pid, number) } }

    /// Waits until SIGTERM is blocked or caught, and so no longer ends the program at once (proc_pid_status(5)). A thread that waits for a
    /// signal does not block it meanwhile; the others do.
    func untilItTakesSignals(within limit: Duration = .seconds(30)) async throws {
        try await eventually(within: limit, every: .milliseconds(10), "SIGTERM would not end it any more: \(pid)") {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
            return threads.first(where: takesSignals)
        }
    }

    private func takesSignals(_ thread: String) -> Bool {
        let status = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/status", encoding: .utf8)) ?? ""
        return status.split(separator: "\n").filter { $0.hasPrefix("SigBlk:") || $0.hasPrefix("SigCgt:") }
            .compactMap { $0.split(whereSeparator: \.isWhitespace).last.flatMap { UInt64($0, radix: 16) } }
            .contains { $0 & (1 << (SIGTERM - 1)) != 0 }
    }

    /// Closes the program's standard input.
    func closeInput() {
        input.withLock {
            if let descriptor = $0 { close(descriptor) }
            $0 = nil
        }
    }

    /// Writes to the program's standard input; drops what the program does not take.
    func write(_ text: String) {
        let bytes = Array(text.utf8)
        input.withLock { if let descriptor = $0 { _ = Glibc.write(descriptor, bytes, bytes.count) } }
    }

    /// All lines printed so far.
    func lines(_ stream: Output = .stdout) -> [String] { output.lines(stream) }

    /// Waits until there are more than `count` lines, or there can be no more.
    func waitForLines(beyond count: Int, _ stream: Output = .stdout, within limit: Duration) async {
        _ = await output.first(within: limit) { state -> Bool? in
            (state.lines[stream]?.count ?? 0) > count || state.ended.contains(stream) ? true : nil
        }
    }

    /// Waits for the next matching line after the one returned last.
    @discardableResult
    func line(
        _ stream: Output = .stdout,
        within limit: Duration = .seconds(30),
        _ what: String = "a line",
        where matches: @escaping @Sendable (String) -> Bool = { _ in true }
    ) async throws -> String {
        let line: String?? = await output.first(within: limit) { $0.next(stream, matches) }
        guard let line else { throw missed("\(what) was not seen within \(limit)") }
        guard let line else { throw missed("the program ended without \(what)") }
        return line
    }

    /// Waits until the process has ended and all of its output is read.
    @discardableResult
    func exit(within limit: Duration = .seconds(30)) async throws -> Exit {
        let exit = await output.first(within: limit) { $0.ended.count == 2 ? $0.exit : nil }
        guard let exit else { throw missed("the program did not end within \(limit)") }
        return exit
    }

    /// An error that includes the program's output.
    func missed(_ what: String) -> Missed {
        Missed(
            description: """
                \(what): \(command)
                stdout: \(lines(.stdout).suffix(20).joined(separator: "\n"))
                stderr: \(lines(.stderr).suffix(20).joined(separator: "\n"))
                """
        )
    }
}

import Foundation
import Testing

/// A shell in a real terminal (tmux) on a host of the lab, 80 columns by 24 lines.
final class TerminalScreen: Sendable {
    private let lab: Lab
    private let host: String
    private let folder: TestFolder
    /// Prints a line whenever something is written to the terminal (tmux(1), control mode).
    private let events: LabProcess

    /// - Parameter environment: additional variables for the shell, such as `NO_COLOR=1`.
    init(_ lab: Lab, _ host: String, _ environment: String = "") async throws {
        self.lab = lab
        self.host = host
        folder = try TestFolder()
        let tmux = ["/usr/bin/tmux", "-S", "\(folder.path)/tmux"]
        let shell = "env LANG=C.UTF-8 PS1='$ ' SWIFT_BACKTRACE=enable=no \(environment) /bin/bash --norc --noprofile"
        let session = ["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", shell]
        _ = try await lab.toEnd(host, tmux + session, within: .seconds(30))
        events = try lab.exec(host, tmux + ["-C", "attach-session", "-t", "0"])
        try await shows("a prompt") { $0.last == "$" }
    }

    private func tmux(_ arguments: String...) async throws -> [String] { try await tmux(arguments) }

    private func tmux(_ arguments: [String]) async throws -> [String] {
        try await lab.toEnd(host, ["/usr/bin/tmux", "-S", "\(folder.path)/tmux"] + arguments, within: .seconds(30))
            .output
    }

    /// Presses keys, given by tmux's names.
    func press(_ keys: String...) async throws {
        for key in keys { _ = try await tmux("send-keys", "-t", "0", key) }
    }

    /// Runs a command in the shell.
    func run(_ command: String) async throws { try await press(command, "Enter") }

    /// Clicks; columns and rows count from 0.
    func click(_ column: Int, _ row: Int) async throws {
        for end in ["M", "m"] { try await mouse(column, row, end) }
    }

    /// Presses the mouse button without releasing it.
    func holdMouse(_ column: Int, _ row: Int) async throws { try await mouse(column, row, "M") }

    /// Sent in one piece: an escape on its own would be the Escape key.
    private func mouse(_ column: Int, _ row: Int, _ end: String) async throws {
        _ = try await tmux("send-keys", "-t", "0", "-l", "\u{1B}[<0;\(column + 1);\(row + 1)\(end)")
    }

    /// Resizes the terminal.
    func resize(columns: Int, rows: Int) async throws {
        _ = try await tmux("resize-window", "-t", "0", "-x", "\(columns)", "-y", "\(rows)")
    }

    /// The screen without trailing empty lines; with `withStyles`, including escape sequences for colours and the like.
    func lines(withStyles: Bool = false) async throws -> [String] {
        try await captured(withStyles ? "-pe" : "-p")
    }

    private func captured(_ options: String...) async throws -> [String] {
        var lines = try await tmux(["capture-pane", "-t", "0"] + options)
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    /// Waits until the screen is as wanted; may include 200 lines of scrollback.
    @discardableResult
    func shows(_ what: String, withHistory: Bool = false, _ matches: ([String]) -> Bool) async throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(60)
        var lines: [String] = []
        while ContinuousClock.now < deadline {
            let seen = events.lines().count
            lines = try await withHistory ? captured("-p", "-S", "-200") : captured("-p")
            if matches(lines) { return lines }
            await events.waitForLines(beyond: seen, within: .seconds(5))
        }
        throw LabProcess.Missed(description: "not shown: \(what); the screen: \(lines)")
    }

    /// Waits until a text appears on the screen.
    func shows(_ text: String) async throws {
        try await shows(text) { $0.contains { $0.contains(text) } }
    }

    /// The terminal's settings as printed by stty(1) in its shell.
    func settings() async throws -> String {
        try await run("clear; echo \"<$(stty -g | md5sum)>\"; tput cols")
        let lines = try await shows("settings") { $0.contains { $0.hasPrefix("<") } && $0.last == "$" }
        return lines.first { $0.hasPrefix("<") } ?? ""
    }

    /// The shell's process id.
    func pid() async throws -> String {
        try await tmux("display-message", "-p", "-t", "0", "#{pane_pid}").first ?? ""
    }

    /// Ends the shell and everything in it.
    func close() async throws { _ = try await tmux("kill-server") }
}

import Foundation
import Synchronization

extension Lab {
    /// The result of a program that ran until its end.
    struct Run: Sendable {
        let exit: LabProcess.Exit
        let output: [String]
        let errors: [String]
        /// The error that ended it; notices may precede it.
        var failure: String? { errors.first { $0.contains(": error: ") } }
        let duration: Duration

        /// Standard output as JSON lines.
        func lines() throws -> [Line] { try output.map { try Line($0) } }
        /// The services on standard output, one JSON object per line.
        func services() throws -> [ServiceLine] { try output.map { try ServiceLine($0) } }
    }

    /// Starts the built discoverd on a host.
    func discoverd(_ host: String, _ arguments: String..., environment: [String: String] = [:]) throws -> LabProcess {
        try exec(host, [Built.discoverd] + arguments, environment: environment)
    }

    /// Runs the built discoverd on a host until it ends.
    func ask(_ host: String, _ arguments: String..., within limit: Duration = .seconds(40)) async throws -> Run {
        try await toEnd(host, [Built.discoverd] + arguments, within: limit)
    }

    /// Runs a bash script on a host until it ends; `$discoverd` is the built one.
    func bash(_ host: String, _ script: String, within limit: Duration = .seconds(40)) async throws -> Run {
        try await toEnd(host, ["/bin/bash", "-c", "discoverd='\(Built.discoverd)'; \(script)"], within: limit)
    }

    /// Runs a program until it ends, whatever its status.
    func toEnd(_ host: String, _ arguments: [String], within limit: Duration) async throws -> Run {
        let start = ContinuousClock.now
        let process = try exec(host, arguments)
        let exit = try await process.exit(within: limit)
        return Run(
            exit: exit,
            output: process.lines(),
            errors: process.lines(.stderr),
            duration: ContinuousClock.now - start
        )
    }

    /// Publishes with discoverd, and waits until the name is established.
    func publish(_ host: String, _ arguments: String...) async throws -> LabProcess {
        let process = try exec(host, [Built.discoverd, "publish"] + Self.publisher + arguments)
        try await process.line(.stdout, "published") { $0.hasPrefix("published ") }
        return process
    }

    /// Publishes with avahi-publish, and waits until the name is established.
    func avahiPublish(_ host: String, _ arguments: String...) async throws -> LabProcess {
        let process = try exec(host, ["avahi-publish", "-s"] + arguments)
        try await process.line(.stderr, "established") { $0.contains("Established") }
        return process
    }

    /// Puts handmade records on a host's wire, given as JSON for inject.py, with its options.
    func inject(_ host: String, _ json: String, _ options: [String] = []) async throws -> LabProcess {
        let process = try python(host, "inject.py", [json] + options)
        try await process.line(.stdout, "ready") { $0 == "ready" }
        return process
    }
}

extension LabProcess {
    /// The next JSON line that matches.
    @discardableResult
    func json(
        within limit: Duration = .seconds(30),
        _ what: String,
        where matches: @escaping @Sendable (Line) -> Bool
    ) async throws -> Line {
        try Line(await line(.stdout, within: limit, what) { text in (try? Line(text)).map(matches) ?? false })
    }

    /// Waits until it has told this of each of these services, in any order.
    func tells(_ event: String, of names: [String]) async throws {
        let left = Mutex(Set(names))
        try await json("\(event) of \(names)") { line in
            left.withLock { left in
                for name in names where line.tells(event, name) { left.remove(name) }
                return left.isEmpty
            }
        }
    }

    /// Ends the program with a signal, and expects a clean exit.
    func stop(_ number: Int32 = SIGTERM) async throws {
        signal(number)
        let exit = try await exit()
        guard exit == .exited(0) else { throw Missed(description: "ended with \(exit): \(lines(.stderr))") }
    }
}

import Foundation
import Synchronization

/// A lab of hosts h1, h2, ... on one link (lab/README.md). It ends with its last reference, or with this process.
final class Lab: Sendable {
    let directory: String
    private let holder: LabProcess
    /// The environment of the lab's daemons.
    private let environment: [String: String]
    private let kept = Mutex<[LabProcess]>([])

    /// Folders of the sources, relative to this file.
    static let scripts = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "lab")
        .path(percentEncoded: false)
    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)
    /// Python with what `make` built or installed for the tests.
    static let python = "\(package).build-tests/venv/bin/python"
    static let publishMany = "\(package).build-tests/publish-many"
    static let resolved = ["\(package).build-tests/resolved", ""].map { "\($0)/lib/systemd/systemd-resolved" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
    static let clockOffset = "\(package).build-tests/clock-offset.so"

    private static var command: String { "\(scripts)/lab" }
    private var holderArguments: [String] { [Self.command, "-d", directory] }

    /// The process id of the lab's holding process.
    var pid: pid_t { holder.pid }

    private init(directory: String, holder: LabProcess, environment: [String: String]) {
        self.directory = directory
        self.holder = holder
        self.environment = environment
    }

    /// A lab with running avahi-daemons, for the caller alone. One of the usual kind may have been started in advance.
    static func start(hosts: Int = 2, _ options: String..., environment: [String: String] = [:]) async throws -> Lab {
        guard hosts == 2, options.isEmpty, environment.isEmpty else {
            return try await start(["--hosts", String(hosts)] + options, environment: environment)
        }
        return try await LabPool.shared.take()
    }

    /// Starts a new lab.
    static func start(_ options: [String], environment: [String: String]) async throws -> Lab {
        let directory = FileManager.default.temporaryDirectory.appending(path: "discoverd-lab-\(UUID().uuidString)")
            .path(percentEncoded: false)
        let arguments = [command, "-d", directory, "start", "--until-eof"] + options
        let lab = Lab(
            directory: directory,
            holder: try LabProcess(arguments, environment: environment),
            environment: environment
        )
        try await lab.holder.line(within: .seconds(60), "READY") { $0 == "READY" }
        return lab
    }

    /// Starts a command on a host; the process is the command itself.
    func exec(_ host: String, _ arguments: String..., environment: [String: String] = [:]) throws -> LabProcess {
        try exec(host, arguments, environment: environment)
    }

    /// Keeps a process alive as long as the lab.
    func keep(_ process: LabProcess) -> LabProcess {
        kept.withLock { $0.append(process) }
        return process
    }

    /// Starts a command on a host; the process is the command itself.
    func exec(_ host: String, _ arguments: [String], environment: [String: String] = [:]) throws -> LabProcess {
        try LabProcess(holderArguments + ["exec", host] + arguments, environment: environment)
    }

    /// Runs a command to its end, expects status 0, and returns its lines of output.
    @discardableResult
    func run(_ host: String, _ arguments: String..., within limit: Duration = .seconds(40)) async throws -> [String] {
        try await finish(exec(host, arguments), within: limit)
    }

    /// `lab avahi HOST VERB`; the environment is for `start`.
    @discardableResult
    func avahi(_ host: String, _ verb: String, environment: [String: String] = [:]) async throws -> [String] {
        try await lab("avahi", host, verb, environment: environment)
    }

    /// Adds lines to the configuration that a host's avahi-daemon will use from its next start; without lines, removes them.
    func configureAvahi(_ host: String, _ lines: String...) async throws {
        try await finish(
            LabProcess(holderArguments + ["avahi", host, "conf"] + lines, environment: environment),
            within: .seconds(30))
    }

    /// `lab dbus HOST VERB`.
    @discardableResult
    func dbus(_ host: String, _ verb: String) async throws -> [String] { try await lab("dbus", host, verb) }

    /// Runs any other command of the lab: `link`, `unlink`.
    @discardableResult
    func lab(_ arguments: String..., environment: [String: String] = [:]) async throws -> [String] {
        let environment = self.environment.merging(environment) { $1 }
        return try await finish(
            LabProcess(holderArguments + arguments, environment: environment),
            within: .seconds(30)
        )
    }

    /// Runs a Python fixture from the lab's folder: `zc_browse.py`, `zc_publish.py`, `inject.py`.
    func python(_ host: String, _ script: String, _ arguments: String...) throws -> LabProcess {
        try python(host, script, arguments)
    }

    /// The same, with the arguments as an array.
    func python(_ host: String, _ script: String, _ arguments: [String]) throws -> LabProcess {
        try exec(
            host,
            [Self.python, "\(Self.scripts)/\(script)"] + arguments,
            environment: ["PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"]
        )
    }

    /// Ends the lab and waits until nothing of it is left.
    func stop() async throws {
        holder.signal(SIGTERM)
        try await holder.exit()
    }

    /// Ends only the holding process, as a crash would.
    func killHolder() { holder.signal(SIGKILL) }

    @discardableResult
    private func finish(_ process: LabProcess, within limit: Duration) async throws -> [String] {
        let exit = try await process.exit(within: limit)
        guard exit == .exited(0) else {
            let errors = process.lines(.stderr).joined(separator: "\n")
            throw LabProcess.Missed(description: "ended with \(exit): \(errors)")
        }
        return process.lines()
    }
}

/// The built programs: those in the directory that `BUILT` names, or those beside the tests.
enum Built {
    static let directory: URL = {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? "/proc/self/exe"
        let named = ProcessInfo.processInfo.environment["BUILT"].map {
            URL(filePath: $0, directoryHint: .isDirectory, relativeTo: URL(filePath: Lab.package))
        }
        return named?.resolvingSymlinksInPath()
            ?? URL(filePath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
    }()
    static let discoverd = program("discoverd")

    /// The path of a program of Sources/, Apps/ or Examples/.
    static func program(_ name: String) -> String { directory.appending(path: name).path(percentEncoded: false) }
}

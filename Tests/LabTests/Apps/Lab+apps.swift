import Foundation
import Testing

/// The built programs of Apps/, which is a package with a build of its own; or those where `DISCOVERD_APPS` says.
enum AppBinary {
    private static let folder =
        ProcessInfo.processInfo.environment["DISCOVERD_APPS"] ?? "\(Lab.package)Apps/.build/debug"

    static func path(_ name: String) -> String { "\(folder)/\(name)" }
}

extension Lab {
    /// Starts one of the programs on a host.
    func app(_ host: String, _ name: String, _ arguments: String...) throws -> LabProcess {
        try exec(host, [AppBinary.path(name)] + arguments)
    }

    /// Runs one of the programs on a host to its end.
    func askApp(
        _ host: String, _ name: String, _ arguments: String..., within limit: Duration = .seconds(60)
    ) async throws -> Run {
        try await toEnd(host, [AppBinary.path(name)] + arguments, within: limit)
    }

    /// Has `rounds` connections to a server end early, in every way; `address` is HOST:PORT or the path of a Unix socket.
    /// - Parameter requests: beginnings of them are sent.
    func endEarly(
        _ host: String, _ address: String, rounds: Int = 1000, requests: [[UInt8]], seed: Int = 1, hold: Int = 32
    ) async throws {
        let texts = requests.flatMap {
            ["--request", $0.map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined()]
        }
        let arguments = [address, "--rounds", String(rounds), "--seed", String(seed), "--hold", String(hold)] + texts
        let process = try python(host, "early_ends.py", arguments)
        let exit = try await process.exit(within: .seconds(180))
        #expect(exit == .exited(0), "\(process.lines()) \(process.lines(.stderr))")
    }

    /// Runs a Python program, given as text, on a host.
    func python3(_ host: String, _ program: String, _ arguments: String...) throws -> LabProcess {
        try exec(host, ["/usr/bin/python3", "-u", "-c", program] + arguments)
    }
}

/// A folder that goes with the test.
final class TestFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "discoverd-app-\(UUID().uuidString)")
        .path(percentEncoded: false)

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Everything below a folder in it, sorted; none if there is no such folder.
    func names(_ folder: String = "") -> [String] {
        let names = try? FileManager.default.subpathsOfDirectory(atPath: folder.isEmpty ? path : "\(path)/\(folder)")
        return names?.sorted() ?? []
    }

    /// A file of random bytes.
    func makeFile(_ name: String, size: Int) throws {
        let input = try FileHandle(forReadingFrom: URL(filePath: "/dev/urandom"))
        let data = try input.read(upToCount: size) ?? Data()
        try data.write(to: URL(filePath: "\(path)/\(name)"))
    }

    func isSame(_ one: String, _ other: String) -> Bool {
        FileManager.default.contentsEqual(atPath: "\(path)/\(one)", andPath: "\(path)/\(other)")
    }
}

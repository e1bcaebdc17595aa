import Foundation
import Testing

extension Lab {
    /// Starts a program on a host.
    func app(_ host: String, _ name: String, _ arguments: String...) throws -> LabProcess {
        try exec(host, [Built.program(name)] + arguments)
    }

    /// Runs a program on a host until it ends.
    func askApp(
        _ host: String, _ name: String, _ arguments: String..., within limit: Duration = .seconds(60)
    ) async throws -> Run {
        try await toEnd(host, [Built.program(name)] + arguments, within: limit)
    }

    /// Makes `rounds` connections to a server that end early, in every possible way; `address` is HOST:PORT or the path of a Unix socket.
    /// - Parameter requests: the requests whose beginnings are sent.
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

/// A temporary folder, removed with this value.
final class TestFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "discoverd-app-\(UUID().uuidString)")
        .path(percentEncoded: false)

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The names of everything below a subfolder, sorted; empty if there is no such folder.
    func names(_ folder: String = "") -> [String] {
        let names = try? FileManager.default.subpathsOfDirectory(atPath: folder.isEmpty ? path : "\(path)/\(folder)")
        return names?.sorted() ?? []
    }

    /// Creates a file of random bytes.
    func makeFile(_ name: String, size: Int) throws {
        let input = try FileHandle(forReadingFrom: URL(filePath: "/dev/urandom"))
        let data = try input.read(upToCount: size) ?? Data()
        try data.write(to: URL(filePath: "\(path)/\(name)"))
    }

    func isSame(_ one: String, _ other: String) -> Bool {
        FileManager.default.contentsEqual(atPath: "\(path)/\(one)", andPath: "\(path)/\(other)")
    }
}

import DNSSD
import Foundation
import PeerIdentity
import Testing

struct KnownPeersFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("known-\(UUID().uuidString)")
        .path
    private var file: KnownPeersFile { KnownPeersFile(path: "\(folder)/known_peers") }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func peer(_ number: Int) throws -> KnownPeers.Peer {
        let key = try #require(KeyFingerprint(repeatElement(UInt8(truncatingIfNeeded: number), count: 32)))
        return KnownPeers.Peer(.label("peer \(number)"), key)
    }

    @Test("no file is nothing known; what is added is there, for its owner alone")
    func kept() throws {
        #expect(try file.read() == KnownPeers())
        try file.change { $0.add(try peer(1)) }
        #expect(try file.read().peers == [try peer(1)])
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a directory that is not there is made, for its owner alone")
    func directory() throws {
        let file = KnownPeersFile(path: "\(folder)/state/discoverd/known_peers")
        #expect(try file.read() == KnownPeers())
        try file.change { $0.add(try peer(1)) }
        #expect(try file.read().peers == [try peer(1)])
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/state/discoverd")
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test("a new file says its format; one without is of the first; one of a newer version is refused, and stays")
    func format() throws {
        try file.change { $0.add(try peer(1)) }
        let written = try String(contentsOfFile: file.path, encoding: .utf8)
        #expect(written.hasPrefix("# discoverd format 1\n"))
        try written.replacingOccurrences(of: "# discoverd format 1\n", with: "").write(
            toFile: file.path, atomically: true, encoding: .utf8)
        try file.change { $0.add(try peer(2)) }
        #expect(try file.read().peers == [try peer(1), try peer(2)] && file.read().format == 1)
        for mark in ["2", "1.5", "", "99999999999999999999"] {
            let newer = "# discoverd format \(mark)\npeer-1 other\n"
            try newer.write(toFile: file.path, atomically: true, encoding: .utf8)
            #expect(throws: KnownPeersFile.Failure.self, "\(mark)") { try file.read() }
            #expect(throws: KnownPeersFile.Failure.self, "\(mark)") { try file.change { $0.add(try peer(3)) } }
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == newer)
        }
    }

    @Test("changes at once are all kept")
    func atOnce() async throws {
        let file = file
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                let peer = try peer(number)
                group.addTask { try file.change { $0.add(peer) } }
            }
            try await group.waitForAll()
        }
        #expect(Set(try file.read().peers).count == 64)
    }

    @Test("an error changes nothing")
    func error() throws {
        struct Stop: Error {}
        try file.change { $0.add(try peer(1)) }
        #expect(throws: Stop.self) {
            try file.change { known in
                known.add(try peer(2))
                throw Stop()
            }
        }
        #expect(try file.read().peers == [try peer(1)])
    }

    @Test("a file that others may write is not believed", arguments: [0o602, 0o620])
    func writable(_ mode: Int) throws {
        try file.change { $0.add(try peer(1)) }
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        let failure = #expect(throws: KnownPeersFile.Failure.self) { try file.read() }
        #expect(failure?.description.contains("another user may write it") == true)
    }

    @Test("a directory or a pipe in its place is an error, at once")
    func noFile() throws {
        try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: false)
        #expect(throws: KnownPeersFile.Failure.self) { try file.read() }
        let pipe = KnownPeersFile(path: "\(folder)/pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        #expect(throws: KnownPeersFile.Failure.self) { try pipe.read() }
    }
}

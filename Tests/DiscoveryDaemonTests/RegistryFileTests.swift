import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryJSON
import DiscoveryTesting
import Foundation
import Glibc
import Testing

@testable import DiscoveryDaemon

@Suite struct RegistryFileTests {
    private let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    private var path: String { directory + "/registrations.json" }

    private func kept() throws -> [RegistryFile.Kept] {
        var service = try OfferedService(name: "Büro \\ 🖨", type: "_xx._udp", port: 7, subtypes: ["_color"])
        try service.txt.append(key: "bin", value: [0xFF, 0])
        try service.txt.append(key: "flag", value: nil)
        service.interfaces = try InterfaceFilter(["en*", "!lo"])
        service.family = .ipv4
        var request = RegistrationRequest(service, onConflict: .fail, check: RegistrationRequest.Check("http:/"))
        request.check?.intervalMilliseconds = 1500
        request.check?.fall = 2
        return [
            RegistryFile.Kept(id: "1", uid: 1000, request: request),
            RegistryFile.Kept(
                id: "2", uid: 0, request: RegistrationRequest(try OfferedService(name: "b", type: "_yy._tcp", port: 1))),
        ]
    }

    @Test func whatWasWrittenIsRead() throws {
        let file = RegistryFile(directory: directory)
        #expect(file.read() == .nothing)
        #expect(file.write(try kept()) == nil)
        #expect(file.read() == .registrations(try kept()))
        #expect(file.write([]) == nil)
        #expect(file.read() == .registrations([]))
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test("a file of a newer version is left as it is, and not taken for a broken one", arguments: ["2", "40000"])
    func newer(_ format: String) throws {
        let file = RegistryFile(directory: directory)
        #expect(file.refusal == nil)
        let content = #"{"v":\#(format),"services":[{"a":1}]}"# + "\n"
        try content.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(file.refusal?.contains("format \(format), of a newer discoverd") == true)
        guard case .unreadable = file.read() else {
            Issue.record("it was read, or set aside")
            return
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
    }

    @Test("a file of the first edition, as 0.1.0 wrote it, is read")
    func older() throws {
        let list =
            #"[{"id":"7","uid":1000,"request":{"v":1,"name":"Tony's web","type":"_http._tcp","port":8080,"domain":"local","#
            + #""txt":{"path":"/x"},"subtypes":[],"onConflict":"rename"}}]"#
        let text = #"{"v":1,"checksum":"67164251575491aa","registrations":"# + list + "}\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        guard case .registrations(let kept) = RegistryFile(directory: directory).read() else {
            Issue.record("it was not read")
            return
        }
        #expect(kept.map(\.request.service.name.text) == ["Tony's web"] && kept[0].uid == 1000)
    }

    @Test func whatIsNoFileIsSetAsideAtOnce() throws {
        let file = RegistryFile(directory: directory)
        #expect(mkfifo(path, 0o600) == 0)
        guard case .setAside(let reason) = file.read() else {
            Issue.record("a pipe was read")
            return
        }
        #expect(reason.contains("no regular file"))
        #expect(symlink("/dev/zero", path) == 0)
        guard case .setAside = file.read() else {
            Issue.record("a device was read")
            return
        }
        // Writing the new file must not wait for one either.
        #expect(mkfifo(path + ".new", 0o600) == 0)
        #expect(file.write(try kept()) == nil)
        #expect(file.read() == .registrations(try kept()))
        try FileManager.default.removeItem(atPath: directory)
    }

    /// Intact JSON with the right checksum that is not a list.
    @Test(arguments: [#"{"a":1}"#, "7", "null", #""text""#, "true"]) func whatIsNoListIsSetAside(_ text: String) throws
    {
        let checksum = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let file = "{\"v\":1,\"checksum\":\"\(String(checksum, radix: 16))\",\"registrations\":\(text)}\n"
        try Data(file.utf8).write(to: URL(fileURLWithPath: path))
        guard case .setAside(let reason) = RegistryFile(directory: directory).read() else {
            Issue.record("\(text) was taken for a list")
            return
        }
        #expect(reason.contains("no list of services"), "\(reason)")
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func whatWasSetAsideFirstStays() throws {
        let file = RegistryFile(directory: directory)
        for number in 1...20 {
            try Data("broken \(number)".utf8).write(to: URL(fileURLWithPath: path))
            guard case .setAside(let reason) = file.read() else {
                Issue.record("\(number) was taken for a whole file")
                return
            }
            let name = number == 1 ? "registrations.json.corrupt" : "registrations.json.corrupt.\(min(number, 9))"
            #expect(reason.contains("\(name), "), "\(reason)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(names.count == 9, "bounded: \(names)")
        let first = FileManager.default.contents(atPath: path + ".corrupt")
        #expect(first == Data("broken 1".utf8))
        #expect(FileManager.default.contents(atPath: path + ".corrupt.9") == Data("broken 20".utf8))
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func aBrokenFileIsSetAside() throws {
        let file = RegistryFile(directory: directory)
        #expect(file.write(try kept()) == nil)
        let bytes = try #require(FileManager.default.contents(atPath: path))
        for length in stride(from: 0, to: bytes.count, by: 7) {
            try bytes.prefix(length).write(to: URL(fileURLWithPath: path))
            guard case .setAside = file.read() else {
                Issue.record("\(length) bytes of \(bytes.count) were taken for a whole file")
                continue
            }
            #expect(FileManager.default.fileExists(atPath: path + ".corrupt"))
            #expect(file.read() == .nothing)
        }
        for position in stride(from: 0, to: bytes.count, by: 5) {
            var changed = bytes
            changed[position] ^= 0x11
            try changed.write(to: URL(fileURLWithPath: path))
            guard case .setAside = file.read() else {
                Issue.record("a changed byte at \(position) was not noticed")
                continue
            }
        }
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func whatCannotBeReadNowIsLeftAlone() throws {
        let file = RegistryFile(directory: directory)
        #expect(file.write(try kept()) == nil)
        let lease = try WriteLease(path)
        guard case .unreadable(let reason) = file.read() else {
            Issue.record("a file that is in use was read")
            return
        }
        #expect(reason.contains(path))
        lease.end()
        #expect(file.read() == .registrations(try kept()))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["registrations.json"])
        try FileManager.default.removeItem(atPath: directory)
    }

    /// It could not be read again: all would be lost at the next start.
    @Test func aFileThatIsTooLongIsNotWritten() throws {
        let some = try kept()
        let file = RegistryFile(directory: directory, atMost: RegistryFile.bytes(of: some).count)
        #expect(file.write(some) == nil)
        #expect(file.hasRoom(for: some) && !file.hasRoom(for: some + some))
        #expect(file.write(some + some)?.contains("File too large") == true)
        #expect(file.read() == .registrations(some))
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func aServiceForWhichTheFileHasNoRoomIsNotTaken() async throws {
        let file = RegistryFile(directory: directory, atMost: 1000)
        let network = LocalNetwork(engine: try SimulatedNetwork().addMachine("h1"))
        let policy = RegistryPolicy(
            refusalToPublish: { _, _, _ in nil }, refusalToManage: { _ in nil }, quota: { _ in 1000 },
            validate: { _, _ in }, check: { _, _, _ in })
        let registry = Registry(
            network: network, file: file, policy: policy, log: DaemonLog(isJournal: false, write: { _ in }),
            warn: { _ in })
        let error = await #expect(throws: ControlError.self) {
            for number in 1...100 {
                let request = RegistrationRequest(
                    try OfferedService(name: "s\(number)", type: "_xx._tcp", port: number))
                _ = try await registry.add(request, for: SocketPeer(uid: 1000), origin: .detached)
            }
        }
        #expect(error?.status == 503 && error?.code == "no-state")
        let count = await registry.statuses.count
        guard case .registrations(let kept) = file.read() else {
            Issue.record("it cannot be read")
            return
        }
        #expect(kept.count == count && count > 0)
        await network.shutdown()
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func whatCannotBeWrittenLeavesTheOldFile() throws {
        let file = RegistryFile(directory: directory)
        #expect(file.write(try kept()) == nil)
        // A directory in place of the new file: opening it for writing fails, even for root.
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        #expect(file.write([]) != nil)
        #expect(file.read() == .registrations(try kept()))
        try FileManager.default.removeItem(atPath: directory)
    }
}

/// Keeps everyone else from opening a file without waiting, like a slow disk or a lack of descriptors (fcntl(2), leases).
struct WriteLease {
    private static let setSignal: Int32 = 10
    private static let setLease: Int32 = 1024
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        // Whoever wants to open the file triggers a signal, which is ignored.
        try #require(fcntl(descriptor, Self.setSignal, SIGURG) == 0)
        try #require(fcntl(descriptor, Self.setLease, Int32(F_WRLCK)) == 0)
    }

    func end() { close(descriptor) }
}

@Suite struct RuntimeDirectoryTests {
    @Test(arguments: [
        ("/run/discoverd/control.sock", "/run/discoverd", "control.sock"), ("/d.sock", "/", "d.sock"),
        ("d.sock", ".", "d.sock"), ("./d.sock", ".", "d.sock"), ("a/b", "a", "b"), ("a/", "a", ""), ("/", "/", ""),
        ("", ".", ""),
    ])
    func aSocketIsLookedForWhereItIs(_ path: String, _ directory: String, _ name: String) {
        let parts = RuntimeDirectory.parts(of: path)
        #expect(parts.directory == directory && parts.name == name)
    }

    @Test func onlyOneHasTheDirectoryAndAStaleSocketIsReplaced() throws {
        let directory = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        let path = directory + "/control.sock"
        var first: RuntimeDirectory? = try RuntimeDirectory(socketPath: path)
        let socket = try #require(try first?.listen())
        #expect(throws: RuntimeDirectory.Failure.alreadyRunning(pid: getpid(), directory: directory)) {
            try RuntimeDirectory(socketPath: path)
        }
        // As after SIGKILL: the lock is released, the socket stays.
        close(socket)
        first = nil
        let second = try RuntimeDirectory(socketPath: path)
        close(try second.listen())
        #expect(second.hasSocket)
        second.removeSocket()
        #expect(!second.hasSocket)
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func whatIsNoSocketIsNotRemoved() throws {
        let directory = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        let path = directory + "/control.sock"
        let runtime = try RuntimeDirectory(socketPath: path)
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(throws: RuntimeDirectory.Failure.self) { try runtime.listen() }
        #expect(FileManager.default.fileExists(atPath: path))
        try FileManager.default.removeItem(atPath: directory)
    }
}

/// What a peer sees of other peers' registrations.
@Suite struct RegistrationShownTests {
    private let status = RegistrationStatus(
        id: "1", name: "a", wanted: "a", type: "_xx._tcp", domain: "local", port: 1, state: .withheld,
        reason: "its check fails: /bin/false ended with status 1", uid: 7, origin: .detached,
        check: "exec:/bin/false s3cret", health: .failing, warning: "w")

    @Test(arguments: [0, 7] as [UInt32]) func ownerAndRootSeeAll(_ uid: UInt32) {
        #expect(status.shown(to: SocketPeer(uid: uid)) == status)
    }

    @Test func othersSeeTheKindOfACheck() {
        let shown = status.shown(to: SocketPeer(uid: 8))
        #expect(shown.check == "exec" && shown.reason == "its check fails" && shown.uid == nil)
        #expect(shown.state == .withheld && shown.health == .failing && shown.warning == "w")
    }

    @Test func overTCPNobodySeesWhy() {
        let shown = status.shown(to: SocketPeer(uid: nil))
        #expect(shown.check == nil && shown.reason == nil && shown.uid == nil && shown.warning == nil)
        #expect(shown.state == .withheld && shown.name == "a")
    }
}

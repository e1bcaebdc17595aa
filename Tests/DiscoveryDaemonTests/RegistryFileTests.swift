import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import Foundation
import Testing

@Suite struct RegistryFileTests {
    private let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    private var path: String { directory + "/registrations.json" }

    private func kept() throws -> [RegistryFile.Kept] {
        var service = try Service(name: "Büro \\ 🖨", type: "_x._udp", port: 7, subtypes: ["a"])
        try service.txt.append(key: "bin", value: [0xFF, 0])
        try service.txt.append(key: "flag", value: nil)
        service.interfaces = try InterfaceFilter(["en*", "!lo"])
        service.family = .ipv4
        var request = RegistrationRequest(service, onConflict: .fail, check: RegistrationRequest.Check("http:/"))
        request.check?.interval = 1.5
        request.check?.fall = 2
        return [
            RegistryFile.Kept(id: "1", uid: 1000, request: request),
            RegistryFile.Kept(
                id: "2", uid: 0, request: RegistrationRequest(try Service(name: "b", type: "_y._tcp", port: 1))),
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

    @Test func whatCannotBeWrittenLeavesTheOldFile() throws {
        let file = RegistryFile(directory: directory)
        #expect(file.write(try kept()) == nil)
        // A directory in the place of the new file: opening it for writing fails, for root too.
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        #expect(file.write([]) != nil)
        #expect(file.read() == .registrations(try kept()))
        try FileManager.default.removeItem(atPath: directory)
    }
}

@Suite struct RuntimeDirectoryTests {
    @Test func onlyOneHasTheDirectoryAndAStaleSocketIsReplaced() throws {
        let directory = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        let path = directory + "/control.sock"
        var first: RuntimeDirectory? = try RuntimeDirectory(socketPath: path)
        let socket = try #require(try first?.listen())
        #expect(throws: RuntimeDirectory.Failure.alreadyRunning(pid: getpid())) {
            try RuntimeDirectory(socketPath: path)
        }
        // As after SIGKILL: the lock is given back, the socket stays.
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

import DiscoveryControl
import DiscoveryDaemon
import DiscoveryJSON
import DiscoveryTesting
import Foundation
import Glibc
import Testing

@Suite struct StateDirectoryTests {
    private static let home = ["HOME": "/home/x"]

    @Test(
        arguments: [
            (nil, false, true, [:], .standard("/var/lib/discoverd")),
            (nil, false, true, home, .standard("/var/lib/discoverd")),
            (nil, false, false, home, .standard("/home/x/.local/state/discoverd")),
            (nil, false, false, ["HOME": "/home/x", "XDG_STATE_HOME": "/s"], .standard("/s/discoverd")),
            // The specification requires absolute paths, and others to be ignored.
            (
                nil, false, false, ["HOME": "/home/x", "XDG_STATE_HOME": "s"],
                .standard("/home/x/.local/state/discoverd")
            ),
            ("/o", false, true, ["STATE_DIRECTORY": "/v"], .chosen("/o")), ("/o", true, false, [:], .chosen("/o")),
            (nil, true, true, ["STATE_DIRECTORY": "/v:/w"], .chosen("/v")),
        ] as [(String?, Bool, Bool, [String: String], StatePlace)])
    func thePlace(
        _ option: String?, _ hasOwnSocket: Bool, _ isRoot: Bool, _ environment: [String: String], _ place: StatePlace
    ) {
        #expect(
            StatePlace(option: option, hasOwnSocket: hasOwnSocket, isRoot: isRoot) { environment[$0] } == place)
    }

    @Test(arguments: [(true, ["HOME": "/home/x"]), (false, [:]), (false, ["HOME": "x"])] as [(Bool, [String: String])])
    func thereIsNone(_ hasOwnSocket: Bool, _ environment: [String: String]) {
        let place = StatePlace(option: nil, hasOwnSocket: hasOwnSocket, isRoot: false) { environment[$0] }
        guard case .none(let reason) = place else {
            Issue.record("\(place)")
            return
        }
        #expect(reason.contains("--state DIRECTORY"))
    }

    private let directory = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"

    @Test func itIsMadeAndHeldByOne() throws {
        let path = directory + "/state/discoverd"
        var first: StateDirectory? = StateDirectory(.standard(path))
        #expect(first?.path == path && first?.reason == nil)
        var info = stat()
        #expect(stat(directory, &info) == 0 && info.st_mode & 0o777 == 0o700)
        let second = StateDirectory(.standard(path))
        #expect(second.path == nil && second.reason?.contains("another daemon has") == true)
        first = nil
        #expect(StateDirectory(.chosen(path)).path == path)
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test("one with the control socket in it is this daemon's own")
    func sharedWithSocket() throws {
        let runtime = try RuntimeDirectory(socketPath: "\(directory)/control.sock")
        let state = StateDirectory(.chosen(directory))
        #expect(state.path == directory && state.reason == nil)
        withExtendedLifetime(runtime) {}
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func oneThatCannotBeMadeIsNone() {
        let state = StateDirectory(.standard("/proc/self/discoverd"))
        #expect(state.path == nil && state.reason?.contains("--state DIRECTORY") == true)
    }

    @Test func whatCannotBeKeptIsNotTaken() async throws {
        let network = SimulatedNetwork()
        let none = StateDirectory(.none("there is no place"))
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), state: none)
        let error = await #expect(throws: ControlError.self) {
            try await daemon.post("/v1/registrations", #"{"name":"a","port":7}"#)
        }
        #expect(error?.status == 503 && error?.message.contains("there is no place") == true)
        #expect(try await daemon.get("/v1/registrations")["registrations"]?.array?.isEmpty == true)
        // A registration that lives as long as its connection needs no state directory.
        let client = try RawClient(daemon.path)
        let body = #"{"name":"short","port":7}"#
        await client.write(
            "POST /v1/registrations?attached=1 HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        #expect(String(decoding: await client.read() ?? [], as: UTF8.self).contains("201"))
        await daemon.stopAndRemove()
    }
}

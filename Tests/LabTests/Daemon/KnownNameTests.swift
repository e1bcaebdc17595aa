import Foundation
import Testing

@Suite("names that are known", .labSlot)
struct KnownNameTests {
    @Test("a name that another host has just said to have is taken, although its host does not defend it in time")
    func knownName() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h2", of: lab, "browse: [_http._tcp]\n")
        let theirs = try await lab.avahiPublish("h1", "tony", "_http._tcp", "80")
        _ = try await daemon.curl("/v1/services?type=_http._tcp&name=tony") { try $0.objects("services").count == 1 }
        try await lab.avahi("h1", "stop")
        func publish(_ policy: String) async throws -> Lab.Run {
            try await lab.ask(
                "h2", "publish", "tony", "81", "--type", "_http._tcp", "--on-conflict", policy, "--detach", "--socket",
                daemon.socket)
        }
        let refused = try await publish("fail")
        #expect(refused.exit == .exited(73), "\(refused)")
        let renamed = try await publish("rename")
        #expect(renamed.output.first?.hasPrefix("published tony #2._http._tcp.local") == true, "\(renamed)")
        try await lab.avahi("h1", "cont")
        theirs.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }
}

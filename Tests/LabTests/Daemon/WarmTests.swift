import Foundation
import Glibc
import Testing

/// The daemon's answers for a type that it keeps warm.
@Suite("a warm type", .labSlot)
struct WarmTests {
    @Test("a name that it does not have is answered at once; one that comes later is found all the same")
    func unknownName() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h2", of: lab, "browse: [_warm._tcp]\n")
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_warm._tcp")
        _ = try await daemon.curl("/v1/services?type=_warm._tcp") { $0.text.contains("tony") }
        let start = ContinuousClock.now
        let none = try await daemon.curl("/v1/services?type=_warm._tcp&name=nobody")
        let passed = ContinuousClock.now - start
        #expect(try none.objects("services").isEmpty)
        // A query for the name alone would have been allowed 5 s.
        #expect(passed < .seconds(2), "\(passed)")
        #expect(try await daemon.curl("/v1/services?type=_warm._tcp&name=tony").objects("services").count == 1)

        let waiting = try lab.discoverd("h2", "resolve", "late", "_warm._tcp", "--timeout", "20")
        let late = try await lab.publish("h1", "late", "9000", "--type", "_warm._tcp")
        #expect(try await waiting.exit(within: .seconds(25)) == .exited(0), "\(waiting.lines(.stderr))")
        for process in [publisher, late] { try await process.stop() }
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a service that a command cannot reach is verified: without an answer it is no longer resolved for anyone")
    func unreachable() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h2", of: lab, "browse: [_warm._tcp]\n")
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_warm._tcp")
        let services = [("ghost", "10.77.0.99"), ("tony2", "10.77.0.1")].map { name, address in
            #"{"instance":"\#(name)","type":"_warm._tcp","host":"\#(name)","addresses":["\#(address)"],"ttl":4500}"#
        }
        let injector = try await lab.inject(
            "h1", #"{"services":[\#(services.joined(separator: ","))]}"#, ["--no-goodbye"])
        let list = "/v1/services?type=_warm._tcp"
        _ = try await daemon.curl(list) {
            try $0.objects("services").count { $0["state"] as? String == "resolved" } == 3
        }
        // It is gone without a goodbye, and its records are good for 75 min.
        try await injector.stop()
        let failed = try await lab.ask("h2", "connect", "ghost", "_warm._tcp", "--timeout", "2")
        #expect(failed.exit == .exited(76), "\(failed)")
        _ = try await daemon.curl(list) {
            try $0.objects("services").contains {
                $0["name"] as? String == "ghost" && $0["state"] as? String != "resolved"
            }
        }
        let others = try await daemon.curl(list).objects("services").filter { $0["name"] as? String != "ghost" }
        #expect(others.count == 2 && others.allSatisfy { $0["state"] as? String == "resolved" }, "\(others)")
        try await publisher.stop()
        try await daemon.stop()
        try await lab.stop()
    }

    @Test(
        "of a type that fills avahi-daemon's cache, a name that it does not have is answered soon", .onlyInAll,
        .labAlone)
    func unknownNameOfDegradedType() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h2", of: lab, "finder: avahi\nbrowse: [_warm._tcp]\n")
        let services = (0..<1100).map {
            #"{"instance":"warm-\#($0)","type":"_warm._tcp","host":"warm","addresses":["10.77.0.1"],"ttl":4500}"#
        }
        // More than fits an argument.
        let file = FileManager.default.temporaryDirectory.appending(path: "warm-\(UUID().uuidString)")
        try #"{"services":[\#(services.joined(separator: ","))]}"#.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let script =
            "exec \(Lab.python) \(Lab.scripts)/inject.py -4 --interval 5 <'\(file.path(percentEncoded: false))'"
        let injector = try lab.exec("h1", ["sh", "-c", script], environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        try await injector.line(within: .seconds(10), "ready") { $0 == "ready" }
        _ = try await daemon.curl("/v1/status", within: .seconds(60)) { $0.text.contains("cache may be full") }
        _ = try await daemon.curl("/v1/services?type=_warm._tcp&wait=0&format=lines", within: .seconds(120)) {
            $0.text.contains(#""event":"settled""#)
        }
        // What was asked for once is remembered for a while.
        for name in ["nobody", "somebody"] {
            let start = ContinuousClock.now
            let none = try await daemon.curl("/v1/services?type=_warm._tcp&name=\(name)")
            let passed = ContinuousClock.now - start
            #expect(try none.objects("services").isEmpty)
            // It was allowed 5 s.
            #expect(passed < .seconds(3), "\(passed)")
        }
        injector.signal(SIGKILL)
        try await daemon.stop()
        try await lab.stop()
    }
}

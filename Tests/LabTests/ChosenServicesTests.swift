import Foundation
import Testing

/// Of all that is there, what was asked for: `browse` of several types, by name and by what is known; `wait` for a name, and for its end.
@Suite("chosen services", .labSlot)
struct ChosenServicesTests {
    static let lab = Task { try await Lab.start() }

    @Test("several types at once, by name, by TXT, port and host, in order; with and without a daemon")
    func browse() async throws {
        let lab = try await Self.lab.value
        var publishers: [LabProcess] = []
        for (name, port, type, path) in [
            ("printer b", "631", "_ipp._tcp", "/p"), ("Printer a", "443", "_ipps._tcp", "/p"),
            ("web", "80", "_http._tcp", "/x/y"),
        ] {
            publishers.append(try await lab.publish("h1", name, port, "--type", type, "--txt", "path=\(path)"))
        }
        func names(_ arguments: String..., status: Int32 = 0) async throws -> [String] {
            let run = try await lab.toEnd(
                "h2", [Built.discoverd, "browse"] + arguments + ["-t", "--json"], within: .seconds(15))
            #expect(run.exit == .exited(status), "\(run.errors)")
            return try run.lines().compactMap(\.service?.name)
        }
        let types = ["_ipp._tcp", "_ipps._tcp", "_http._tcp"]
        func all() async throws {
            #expect(
                try await names(types[0], types[1], types[2], "--sort", "name") == ["Printer a", "printer b", "web"])
            #expect(try await names(types[0], types[1], "--name", "*B") == ["printer b"])
            #expect(Set(try await names("--all", "--where", "txt.path=/p")) == ["Printer a", "printer b"])
            #expect(try await names("--all", "--where", "port!=443", "--where", "txt.path=/p") == ["printer b"])
            #expect(try await names("--all", "--name", "p*", "--where", "host=h2*", status: 1) == [])
        }
        try await all()
        let daemon = try LabDaemon(lab, "h2")
        try await daemon.start()
        try await all()
        try await daemon.stop()
        for publisher in publishers { try await publisher.stop() }
    }

    @Test("a service that is published anew with other TXT comes and goes for who asked for that TXT")
    func follows() async throws {
        let lab = try await Self.lab.value
        let browser = try lab.discoverd("h2", "browse", "_moods._tcp", "--where", "txt.mood=good", "--json")
        for _ in 0..<2 {
            let bad = try await lab.publish("h1", "cat", "9", "--type", "_moods._tcp", "--txt", "mood=bad")
            try await bad.stop()
            let good = try await lab.publish("h1", "cat", "9", "--type", "_moods._tcp", "--txt", "mood=good")
            try await browser.json("added") { $0.tells("added", "cat") }
            try await good.stop()
            try await browser.json("removed") { $0.tells("removed", "cat") }
        }
        let events = browser.lines().compactMap { try? Line($0).event }.filter { $0 == "added" || $0 == "removed" }
        #expect(events == ["added", "removed", "added", "removed"])
        try await browser.stop()
    }

    @Test("wait for a name of any type, and until it is gone; a doubtful word is told")
    func wait() async throws {
        let lab = try await Self.lab.value
        let waiting = try lab.discoverd("h2", "wait", "--name", "Front desk", "--timeout", "20", "--json")
        let publisher = try await lab.publish("h1", "Front desk", "9", "--type", "_desk._tcp")
        #expect(try await waiting.exit(within: .seconds(15)) == .exited(0))
        #expect(try waiting.lines().map { try ServiceLine($0).name } == ["Front desk"])

        let still = try await lab.ask("h2", "wait", "Front desk", "--gone", "--timeout", "2")
        #expect(still.exit == .exited(1) && still.output.isEmpty)
        let gone = try lab.discoverd("h2", "wait", "_desk._tcp", "--name", "Front desk", "--gone", "--timeout", "20")
        let none = try await lab.ask("h2", "wait", "_nobody._tcp", "--gone", "--timeout", "10")
        #expect(none.exit == .exited(0) && none.output.isEmpty && none.errors.isEmpty)
        try await publisher.stop()
        #expect(try await gone.exit(within: .seconds(15)) == .exited(0))

        let word = try await lab.ask("h2", "wait", "printer", "--timeout", "1")
        #expect(word.exit == .exited(1))
        #expect(word.errors.contains { $0.contains("_printer._tcp") && $0.contains("--name") }, "\(word.errors)")
        let pattern = try await lab.ask("h2", "wait", "--name", "Fr*", "--timeout", "1")
        #expect(pattern.errors.contains { $0.contains("the very name \"Fr*\"") }, "\(pattern.errors)")
        let hasty = try await lab.ask("h2", "wait", "_nobody._tcp", "--gone", "--timeout", "0.3")
        #expect(hasty.exit == .exited(1) && hasty.failure?.contains("to know that none is there") == true, "\(hasty)")
    }

    @Test("a type that is spelled nearly as a usual one: did you mean")
    func slip() async throws {
        let lab = try await Self.lab.value
        let typo = try await lab.ask("h2", "browse", "_htp._tcp", "-t")
        #expect(typo.exit == .exited(1) && typo.errors.last?.contains("did you mean _http._tcp?") == true, "\(typo)")
        let own = try await lab.ask("h2", "browse", "_mine._tcp", "-t")
        #expect(own.exit == .exited(1) && !own.errors.joined().contains("mean"), "\(own)")
    }
}

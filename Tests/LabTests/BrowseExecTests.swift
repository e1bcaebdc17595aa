import Foundation
import Testing

/// `browse --exec`: a program for each event.
@Suite("a program for each event", .labSlot)
struct BrowseExecTests {
    static let lab = Task { try await Lab.start() }
    private static let type = "_exec._tcp"

    /// Writes a shell script. Another process writes it: a program that starts while this one has it open would keep it busy (ETXTBSY).
    private func script(_ lab: Lab, _ text: String) async throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "exec-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "program")
        let lines = "#!/bin/sh\ncd '\(folder.path)' || exit\n\(text)\n"
        let written = try await lab.bash("h2", "cat >'\(file.path)' <<'END'\n\(lines)END\nchmod 755 '\(file.path)'")
        #expect(written.exit == .exited(0))
        return file
    }

    @Test("what the network says is data: variables and a JSON line, in the order of what happened, one at a time")
    func inOrder() async throws {
        let lab = try await Self.lab.value
        let program = try await script(
            lab,
            """
            mkdir lock || echo overlap
            printf '%s|%s|%s|' "$DISCOVERD_EVENT" "$DISCOVERD_NAME" "$DISCOVERD_TYPE"
            cat
            sleep 0.1
            rmdir lock
            """)
        let names = ["$(touch pwned)", "`id`; rm -rf x", "a 'b\" c"]
        let browser = try lab.discoverd("h2", "browse", Self.type, "-r", "--exec", program.path)
        func told(_ event: String, _ name: String) async throws {
            let start = "\(event)|\(name)|\(Self.type)|"
            let line = try await browser.line(within: .seconds(20), "\(event) \(name)") { $0.hasPrefix(start) }
            let json = try Line(String(line.dropFirst(start.count)))
            #expect(json.event == event)
            #expect(json.service?.name == name)
        }
        var publishers: [LabProcess] = []
        for name in names {
            publishers.append(try await lab.publish("h1", name, "9", "--type", Self.type))
            try await told("added", name)
        }
        let all = try await lab.ask("h2", "browse", Self.type, "-t", "--exec", program.path)
        #expect(all.output.count { $0.hasPrefix("added|") } == names.count)
        #expect(!all.output.contains("overlap"))
        let whole = all.output.filter { $0.contains("\"port\":9,") && $0.contains("\"host\":\"h1.local\"") }
        #expect(whole.count == names.count, "told without -r, too: \(all.output)")
        for (name, publisher) in zip(names, publishers) {
            try await publisher.stop()
            try await told("removed", name)
        }
        try await browser.stop()
        #expect(!browser.lines().contains("overlap"))
        let folder = program.deletingLastPathComponent()
        // The last one may have been ended before it removed its folder.
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(left).isSubset(of: ["program", "lock"]))
        try FileManager.default.removeItem(at: folder)
    }

    @Test("with -t the list; a status is told and nothing ends; no such program is 127, before anything is asked")
    func once() async throws {
        let lab = try await Self.lab.value
        let program = try await script(lab, "cat >/dev/null; exit 3")
        let publisher = try await lab.publish("h1", "once", "9", "--type", "_once._tcp")
        let run = try await lab.ask("h2", "browse", "_once._tcp", "-t", "--exec", program.path)
        #expect(run.exit == .exited(0))
        #expect(run.errors.contains { $0.contains("ended with status 3: added") }, "\(run)")
        let none = try await lab.ask("h2", "browse", "_once._tcp", "-t", "--exec", "/nowhere/program")
        #expect(none.exit == .exited(127))
        #expect(none.output.isEmpty)
        try await publisher.stop()
        try FileManager.default.removeItem(at: program.deletingLastPathComponent())
    }

    @Test("a program that is gone for an event is a notice, and the next event has it again")
    func gone() async throws {
        let lab = try await Self.lab.value
        let program = try await script(lab, "cat >/dev/null; echo \"told $DISCOVERD_NAME\"")
        let browser = try lab.discoverd("h2", "browse", "_gone._tcp", "--exec", program.path)
        let first = try await lab.publish("h1", "first", "9", "--type", "_gone._tcp")
        try await browser.line { $0 == "told first" }
        let away = program.path + ".away"
        try FileManager.default.moveItem(atPath: program.path, toPath: away)
        let second = try await lab.publish("h1", "second", "9", "--type", "_gone._tcp")
        try await browser.line(.stderr) { $0.contains("no such program: added second") }
        try FileManager.default.moveItem(atPath: away, toPath: program.path)
        let third = try await lab.publish("h1", "third", "9", "--type", "_gone._tcp")
        try await browser.line { $0 == "told third" }
        try await browser.stop()
        for publisher in [first, second, third] { try await publisher.stop() }
        try FileManager.default.removeItem(at: program.deletingLastPathComponent())
    }

    @Test("Ctrl-C ends the program that runs, and browse")
    func interrupted() async throws {
        let lab = try await Self.lab.value
        let program = try await script(lab, "echo $$; exec sleep 600")
        let publisher = try await lab.publish("h1", "long", "9", "--type", "_long._tcp")
        let browser = try lab.discoverd("h2", "browse", "_long._tcp", "--exec", program.path)
        let line = try await browser.line(within: .seconds(20), "the program") { Int32($0) != nil }
        let process = try #require(pid_t(line))
        #expect(kill(process, 0) == 0)
        try await browser.stop()
        #expect(kill(process, 0) == -1)
        try await publisher.stop()
        try FileManager.default.removeItem(at: program.deletingLastPathComponent())
    }
}

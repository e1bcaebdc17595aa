import Testing

/// RFC 6762 §5.2: hosts that begin together do not ask together. A person's command begins alone.
@Suite("The first question of a list", .labSlot)
struct FirstQuestionTests {
    /// The milliseconds between the socket's opening and the question, of each run.
    private func waits(_ lab: Lab, runs: Int, _ options: String...) async throws -> [Int] {
        let type = "_asked._tcp"
        let command = [Lab.python, "\(Lab.scripts)/first_question.py", "\(runs)", type]
        let run = try await lab.toEnd(
            "h1", command + [Built.discoverd, "browse", type, "-t"] + options, within: .seconds(100))
        return run.output.compactMap { Int($0) }
    }

    @Test("a command puts it at once, a daemon that has just started after 20 ms and more")
    func atOnce() async throws {
        let lab = try await Lab.start(hosts: 1)
        // On a busy machine one may be late; with a wait, none comes so soon.
        let own = try await waits(lab, runs: 8, "--no-daemon")
        #expect(own.count == 8 && own.contains { $0 < 15 }, "\(own)")
        // Who looks may be late, too.
        var first: [Int] = []
        while first.count < 5, !first.contains(where: { $0 >= 19 }) {
            let daemon = try LabDaemon(lab, "h1")
            try await daemon.start()
            first.append(try #require(await waits(lab, runs: 1, "--socket", daemon.socket).first))
            try await daemon.stop()
        }
        #expect(first.contains { $0 >= 19 }, "\(first)")
        try await lab.stop()
    }
}

import Foundation
import Testing

extension PairTests {
    @Test(
        "who breaks the exchange is not shown; calls of one stranger end nothing, and no code is printed that is not shown",
        .onlyInAll
    )
    func strangers() async throws {
        let lab = try await Lab.start(hosts: 3)
        let one = try await pair(lab, "h1", "--json >/run/json")
        _ = try await lab.bash("h1", "until grep -q waiting /run/json; do sleep 0.1; done")
        let port = try await port(lab, "h2", "h1")
        let folder = try await python(lab, "h2", "h2")
        func call(_ what: String) throws -> LabProcess {
            try lab.python("h2", "pair_peer.py", ["call", "10.77.0.1", "\(port)", folder, what])
        }
        let silent = try call("silent")
        try await silent.line(.stdout, "silent")
        _ = try await lab.bash("h2", "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -N 10.77.0.1 \(port)")
        try await shows(one, "an attempt came to nothing: no TLS 1.3")
        for (what, reason) in [("wrong", "the one that it had committed to"), ("early", "spoke before its turn")] {
            #expect(try await call(what).exit() != .exited(0))
            try await shows(one, reason)
        }
        // The first has a code, and goes; the others go while it waits for the person.
        let first = try call("leave")
        let code = try await first.line(.stdout, "a code")
        #expect(try await first.exit() == .exited(0))
        for _ in 0..<6 { _ = try await call("go").exit() }
        let two = try await pair(lab, "h3", "h1")
        try await one.shows("Press Enter to see it:")
        // Nobody has looked, and so the other machine does not know the code either.
        try await two.shows("waits for its person", withHistory: true) { $0.joined().contains("waits for its person") }
        #expect(try await lab.bash("h1", "grep -c comparing /run/json").output == ["1"])
        try await one.run("")
        let codes = [try await self.code(one), try await self.code(two)]
        #expect(codes[0] == codes[1] && codes[0] != code)
        for screen in [one, two] { try await screen.run("yes") }
        for screen in [one, two] { try await screen.shows("status=0") }
        silent.signal(SIGKILL)
        for screen in [one, two] { try await screen.close() }
        try await lab.stop()
    }

    @Test("five codes that were shown and came to nothing end it with 77", .onlyInAll)
    func attempts() async throws {
        let lab = try await Lab.start()
        let one = try await waiting(lab, "h1")
        let port = try await port(lab, "h2", "h1")
        for number in 1...5 {
            // Who came to nothing twice waits: each has a key and an address of its own.
            let folder = try await python(lab, "h2", "stranger\(number)")
            let source = "10.77.0.\(100 + number)"
            _ = try await lab.bash("h2", "ip address add \(source)/24 dev eth0")
            let peer = try lab.exec(
                "h2", "/usr/bin/env", "SOURCE=\(source)", Lab.python, "\(Lab.scripts)/pair_peer.py", "call",
                "10.77.0.1",
                "\(port)", folder, "leave")
            if number > 1 {
                try await one.shows("Press Enter", withHistory: true) { lines in
                    lines.count { $0.contains("Press Enter to see it:") } == number - 1
                }
                try await one.run("")
            }
            try await peer.line(.stdout, "a code")
            #expect(try await peer.exit() == .exited(0))
        }
        try await one.shows("status=77")
        try await one.shows("5 codes came to nothing")
        #expect(try await known(lab, "h1").isEmpty)
        try await one.close()
        try await lab.stop()
    }
}

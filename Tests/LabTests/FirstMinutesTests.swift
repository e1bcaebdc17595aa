import Foundation
import Testing

/// The README's first five minutes: its own commands, as a shell reads them, with each finder.
@Suite("the README's first five minutes", .labSlot)
struct FirstMinutesTests {
    private static let readme = Result { try ProjectDocument("README.md").section("First five minutes") }

    /// Two hosts on which `discoverd` is the built one, with `--finder`.
    private struct Bench {
        let lab: Lab
        let finder: String

        func start(_ host: String, _ command: String) throws -> LabProcess {
            #expect(try FirstMinutesTests.readme.get().contains(command), "the README has no such command: \(command)")
            return try run(host, command)
        }

        func run(_ host: String, _ command: String) throws -> LabProcess {
            let discoverd =
                #"discoverd() { local command=$1; shift; "$DISCOVERD" "$command" --finder "$FINDER" "$@"; }"#
            return try lab.exec(
                host, ["/bin/bash", "-c", "\(discoverd); \(command)"],
                environment: ["DISCOVERD": Built.discoverd, "FINDER": finder])
        }

        /// Runs a command to its end.
        func ask(_ host: String, _ command: String) async throws -> (exit: LabProcess.Exit, output: [String]) {
            let process = try start(host, command)
            let exit = try await process.exit(within: .seconds(40))
            return (exit, process.lines())
        }
    }

    @Test("print what it shows", arguments: ["wire", "avahi"])
    func commands(finder: String) async throws {
        let lab = try await Lab.start()
        let bench = Bench(lab: lab, finder: finder)
        let publish = "discoverd publish tony 9000 --type _witap._tcp --txt path=/x --txt flag"
        let tony = try bench.start("h1", publish)
        try await tony.line { $0 == "published tony._witap._tcp.local port 9000" }
        try await finds(bench)
        try await names(bench)
        try await connects(bench)
        try await scripts(bench)
        // The shell's commands go with the lab.
        withExtendedLifetime(tony) {}
        try await lab.stop()
    }

    private func finds(_ bench: Bench) async throws {
        let browse = "discoverd browse _witap._tcp -r -t"
        let seen = try await bench.ask("h2", browse)
        try #require(seen.exit == .exited(0) && seen.output.count == 1, "\(seen)")
        let columns = seen.output[0].split(separator: "\t", omittingEmptySubsequences: false)
        #expect(columns.prefix(7) == ["+", "tony", "_witap._tcp", "local", "eth0", "h1.local", "9000"])
        #expect(columns.count == 9 && columns[7].hasPrefix("10.77.0.1,fe80::") && columns[7].hasSuffix("%eth0"))
        #expect(columns.last == #""path=/x" "flag""#)

        let resolved = try await bench.ask("h2", "discoverd resolve tony")
        #expect(
            resolved.output.prefix(8) == [
                "name\ttony", "type\t_witap._tcp", "domain\tlocal", "host\th1.local", "port\t9000",
                "txt\t\"path=/x\"", "txt\t\"flag\"", "endpoint\t10.77.0.1:9000\teth0",
            ], "\(resolved)")
        #expect(resolved.output.last?.hasPrefix("endpoint\t[fe80::") == true && resolved.output.count == 9)

        let lines = try await bench.ask("h2", "\(browse) --json").output.map { try Line($0) }
        #expect(lines.map(\.event) == ["added", "settled"] && lines.first?.service?.state == "resolved")
    }

    private func names(_ bench: Bench) async throws {
        let second = try bench.start("h2", "discoverd publish tony 9001")
        try await second.line {
            $0 == #"published tony #2._witap._tcp.local port 9001 (renamed: "tony" is taken)"#
        }
        let taken = try await bench.ask("h2", "discoverd publish tony 9001 --on-conflict fail; echo $?")
        #expect(taken.output == ["73"], "\(taken)")
        let waited = try await bench.ask("h2", "discoverd wait _witap._tcp --count 2 --timeout 30")
        #expect(waited.exit == .exited(0) && waited.output.count == 2, "\(waited)")
    }

    private func connects(_ bench: Bench) async throws {
        let files = try bench.start("h1", "discoverd listen files 0 -- cat")
        let published = try await files.line { $0.hasPrefix("published files._witap._tcp.local port ") }
        let port = try #require(published.split(separator: " ").last)
        let echoed = try await bench.ask("h2", #"printf 'hello\n' | discoverd connect files"#)
        #expect(echoed.exit == .exited(0) && echoed.output == ["hello"], "\(echoed)")
        let probed = try await bench.ask("h2", "discoverd connect files --probe")
        #expect(probed.output.count == 1 && probed.output[0].contains(":\(port)\teth0\t"), "\(probed)")

        let forward = try bench.start("h2", "discoverd forward files 7777")
        try await forward.line(.stdout, "the port") { $0.contains("127.0.0.1:7777") }
        let through = try bench.run("h2", #"exec 3<>/dev/tcp/127.0.0.1/7777; echo hello >&3; head -n 1 <&3"#)
        #expect(try await through.exit() == .exited(0) && through.lines() == ["hello"])
        withExtendedLifetime((files, forward)) {}
    }

    private func scripts(_ bench: Bench) async throws {
        let web = try bench.start(
            "h1", "discoverd publish web 8080 --type _http._tcp -- python3 -m http.server 8080")
        try await web.line { $0 == "published web._http._tcp.local port 8080" }
        let all = try await bench.ask("h2", "discoverd browse --all -t")
        #expect(all.exit == .exited(0) && all.output.contains { $0.hasPrefix("+\tweb\t_http._tcp\t") }, "\(all)")
        let doctor = try await bench.ask("h2", "discoverd doctor")
        #expect(doctor.exit == .exited(0) && !doctor.output.contains { $0.hasPrefix("fail\t") }, "\(doctor)")
        withExtendedLifetime(web) {}
    }
}

import Glibc
import Testing

/// Standard output that is closed, or that no one reads to its end.
@Suite("pipes", .labSlot)
struct PipeTests {
    static let lab = Task { try await Lab.start() }

    @Test("browse | head -1 ends immediately, with 0 and nothing on standard error")
    func head() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_pipe._tcp")
        let run = try await lab.bash("h2", "$discoverd browse _pipe._tcp | head -1; echo ${PIPESTATUS[0]}")
        #expect(run.exit == .exited(0) && run.errors.isEmpty)
        #expect(run.output.count == 2 && run.output.last == "0", "\(run.output)")
        #expect(run.duration < .seconds(3), "\(run.duration)")
        try await publisher.stop()
    }

    @Test(
        "a reader that ends while nothing happens ends browse too", arguments: ["browse _quiet._tcp", "types --follow"])
    func quiet(_ command: String) async throws {
        let lab = try await Self.lab.value
        let run = try await lab.bash("h2", "$discoverd \(command) | sleep 1; echo ${PIPESTATUS[0]}")
        #expect(run.output == ["0"] && run.errors.isEmpty && run.duration < .seconds(3), "\(run)")
    }

    @Test("a closed standard output is said, with 74; a closed input or error is no matter")
    func closed() async throws {
        let lab = try await Self.lab.value
        let run = try await lab.bash("h2", "$discoverd browse _pipe._tcp -t >&-; echo $?")
        #expect(run.output == ["74"] && run.errors == ["discoverd: error: standard output is closed"], "\(run)")
        for command in [
            "import /dev/null", "zone-template bind --only configuration --domain a.example", "key list", "key show",
        ] {
            let run = try await lab.bash("h2", "$discoverd \(command) >&-; echo $?")
            #expect(run.output == ["74"] && run.errors == ["discoverd: error: standard output is closed"], "\(run)")
        }
        let input = try await lab.bash("h2", "$discoverd browse _none._tcp -t <&- 2>&-; echo $?")
        #expect(input.output == ["1"], "\(input)")
    }

    @Test("publish continues when no one reads its output")
    func publishUnread() async throws {
        let lab = try await Self.lab.value
        let publisher = try lab.exec(
            "h1",
            [
                "/bin/bash", "-c", "exec '\(Built.discoverd)' publish tony 9000 --type _unread._tcp >&-",
            ])
        let run = try await lab.ask("h2", "wait", "_unread._tcp", "--timeout", "8")
        #expect(run.exit == .exited(0))
        try await publisher.stop()
    }

    @Test("a full disk is said, with 74")
    func full() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "tony", "9000", "--type", "_full._tcp")
        let run = try await lab.bash("h2", "$discoverd browse _full._tcp -t >/dev/full; echo $?")
        #expect(run.output == ["74"] && run.errors.first?.hasPrefix("discoverd: error: ") == true, "\(run)")
        try await publisher.stop()
    }

    @Test(
        "so it is of commands without a network",
        arguments: [
            "setup zone bind --domain a.example --address 10.0.0.1", "setup avahi $file", "key list --json", "--help",
        ])
    func fullWithoutNetwork(_ command: String) async throws {
        let lab = try await Self.lab.value
        let service = "<service><type>_http._tcp</type><port>80</port></service>"
        let group = "<service-group><name>a</name>\(service)</service-group>"
        let known = "a._http._tcp.local SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
        let script = """
            export STATE_DIRECTORY=$(mktemp -d); trap 'rm -r $STATE_DIRECTORY' EXIT
            file=$STATE_DIRECTORY/a.service; echo '\(group)' >$file
            $discoverd key add \(known)
            $discoverd \(command) >/dev/full; echo $?
            """
        let run = try await lab.bash("h2", script)
        #expect(run.output == ["74"], "\(run)")
        #expect(run.errors.last?.hasPrefix("discoverd: error: cannot write to standard output: ") == true, "\(run)")
    }
}

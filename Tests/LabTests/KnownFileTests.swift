import Foundation
import Testing

/// What becomes of `known_peers` when something goes wrong.
@Suite("The file of known peers", .labSlot)
struct KnownFileTests {
    private static let state = "/var/lib/discoverd-root"
    private static let file = "\(state)/known_peers"
    private static let key = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"

    private func known(_ lab: Lab) async throws -> [String] { try await lab.ask("h1", "known").output }

    @Test("two processes at once lose nothing")
    func atOnce() async throws {
        let lab = try await Lab.start()
        let script = """
            add() { for n in {1..20}; do $discoverd known add "@$1$n" \(Self.key) || echo failed; done; }
            add a & add b & wait
            """
        let run = try await lab.bash("h1", script, within: .seconds(60))
        #expect(run.exit == .exited(0) && run.output.isEmpty && run.errors.isEmpty, "\(run)")
        let expected = Set(["a", "b"].flatMap { side in (1...20).map { "@\(side)\($0)\t\(Self.key)" } })
        #expect(Set(try await known(lab)) == expected)
        try await lab.stop()
    }

    @Test("a full disk: an error, and what was known stays", .onlyInAll)
    func full() async throws {
        let lab = try await Lab.start()
        let filled = """
            mkdir -p \(Self.state); mount -t tmpfs -o size=32k tmpfs \(Self.state)
            $discoverd known add @anna \(Self.key) && ! cat /dev/zero >\(Self.state)/filler
            """
        let made = try await lab.bash("h1", filled)
        #expect(made.exit == .exited(0), "\(made)")
        let add = try await lab.ask("h1", "known", "add", "@tim", Self.key)
        #expect(add.exit == .exited(78) && add.failure?.contains("No space left on device") == true, "\(add)")
        #expect(try await known(lab) == ["@anna\t\(Self.key)"])
        #expect(try await lab.bash("h1", "ls \(Self.state)").output == ["filler", "known_peers", "known_peers.lock"])
        _ = try await lab.bash("h1", "rm \(Self.state)/filler")
        #expect(try await lab.ask("h1", "known", "add", "@tim", Self.key).exit == .exited(0))
        #expect(try await known(lab).count == 2)
        try await lab.stop()
    }

    @Test(
        "killed before the new file is whole, or before it takes its place: what was known stays, and the next change is made"
    )
    func killed() async throws {
        let lab = try await Lab.start()
        try await lab.run("h1", Built.discoverd, "known", "add", "@anna", Self.key)
        let shim = try await lab.bash("h1", "gcc -shared -fPIC -o /var/lib/kill-in.so \(Lab.scripts)/kill-in.c")
        #expect(shim.exit == .exited(0), "\(shim)")
        for function in ["fsync", "rename"] {
            let run = try await lab.bash(
                "h1",
                "LD_PRELOAD=/var/lib/kill-in.so KILL_IN=\(function) $discoverd known add @\(function) \(Self.key); echo $?"
            )
            #expect(run.output == ["137"], "\(run)")
            #expect(try await known(lab) == ["@anna\t\(Self.key)"])
        }
        #expect(try await lab.ask("h1", "known", "add", "@tim", Self.key).exit == .exited(0))
        #expect(try await known(lab) == ["@anna\t\(Self.key)", "@tim\t\(Self.key)"])
        #expect(try await lab.bash("h1", "ls \(Self.state)").output == ["known_peers", "known_peers.lock"])
        try await lab.stop()
    }

    @Test("what a person or a broken editor wrote stays to the byte", .onlyInAll)
    func garbage() async throws {
        let lab = try await Lab.start()
        let script = """
            mkdir -p \(Self.state); printf 'x\\0y\\377\\n\\n# ours\\r\\n@anna SHA256:short\\n@tim \(Self.key) his' >\(Self.file)
            cp \(Self.file) /var/lib/before; $discoverd known add @eva \(Self.key)
            (cat /var/lib/before; printf '\\n@eva \(Self.key)\\n') | cmp - \(Self.file) && $discoverd known
            """
        let run = try await lab.bash("h1", script)
        #expect(run.exit == .exited(0) && run.output == ["@tim\t\(Self.key)", "@eva\t\(Self.key)"], "\(run)")
        #expect(run.errors.contains { $0.contains("lines 1, 4 make no sense") }, "\(run)")
        try await lab.stop()
    }

    @Test("no file, or none of ours: an error at once, with its reason, and nothing is touched", .onlyInAll)
    func noFile() async throws {
        let lab = try await Lab.start(hosts: 1, "--users")
        let cases = [
            ("mkdir \(Self.file)", "is no regular file", "rmdir \(Self.file)"),
            ("mkfifo \(Self.file)", "is no regular file", "[ -p \(Self.file) ] && rm \(Self.file)"),
            ("truncate -s 5M \(Self.file)", "longer than 4194304 bytes", "rm \(Self.file)"),
            ("echo >\(Self.file); chmod 666 \(Self.file)", "another user may write it", "rm \(Self.file)"),
            ("echo >\(Self.file); chown 65534 \(Self.file)", "another user may write it", "rm \(Self.file)"),
        ]
        for (prepare, reason, clean) in cases {
            _ = try await lab.bash("h1", "mkdir -p \(Self.state); \(prepare)")
            let list = try await lab.ask("h1", "known")
            #expect(list.exit == .exited(78) && list.failure?.contains(reason) == true, "\(prepare): \(list)")
            let add = try await lab.ask("h1", "known", "add", "@anna", Self.key)
            #expect(add.exit == .exited(78) && add.failure?.contains(reason) == true, "\(prepare): \(add)")
            #expect(try await lab.bash("h1", clean).exit == .exited(0), "\(prepare)")
        }
        try await lab.stop()
    }

    @Test("a file of a newer version is refused, and stays", .onlyInAll)
    func newer() async throws {
        let lab = try await Lab.start(hosts: 1)
        let made = try await lab.bash(
            "h1", "mkdir -p \(Self.state); umask 077; echo '# discoverd format 2' >\(Self.file)")
        #expect(made.exit == .exited(0), "\(made)")
        for command in [["known"], ["known", "add", "@anna", Self.key], ["listen", "tony", "--tls"]] {
            let run = try await lab.toEnd("h1", [Built.discoverd] + command, within: .seconds(15))
            #expect(run.exit == .exited(78) && run.failure?.contains("newer discoverd") == true, "\(run)")
        }
        #expect(try await lab.bash("h1", "cat \(Self.file)").output == ["# discoverd format 2"])
        try await lab.stop()
    }

    @Test("a symbolic link stays one; without permission there is an error, for the one and the other", .onlyInAll)
    func permissions() async throws {
        let lab = try await Lab.start(hosts: 1, "--users")
        let link = """
            mkdir -p \(Self.state) /var/lib/dotfiles; touch /var/lib/dotfiles/known; ln -s /var/lib/dotfiles/known \(Self.file)
            $discoverd known add @anna \(Self.key) && $discoverd known add @tim \(Self.key)
            [ -L \(Self.file) ] && cat /var/lib/dotfiles/known
            """
        let linked = try await lab.bash("h1", link)
        #expect(linked.exit == .exited(0) && linked.output.count == 3, "\(linked)")
        #expect(linked.output.first == "# discoverd format 1", "\(linked)")
        // Without its file, whatever was known would count as new.
        let dangling = try await lab.bash("h1", "rm /var/lib/dotfiles/known; $discoverd known add @anna \(Self.key)")
        #expect(dangling.exit == .exited(78) && dangling.failure?.contains("a link to nothing") == true, "\(dangling)")
        #expect(try await lab.bash("h1", "$discoverd known; [ -L \(Self.file) ]").exit == .exited(0))
        let nobody =
            "setpriv --reuid=nobody --regid=nogroup --clear-groups env STATE_DIRECTORY=/var/lib/s $discoverd known"
        let secret = try await lab.bash(
            "h1", "mkdir -m 755 /var/lib/s; echo x >/var/lib/s/known_peers; chmod 600 /var/lib/s/known_peers; \(nobody)"
        )
        #expect(secret.exit == .exited(78) && secret.failure?.contains("Permission denied") == true, "\(secret)")
        let fixed = try await lab.bash("h1", "chmod 644 /var/lib/s/known_peers; \(nobody) add @anna \(Self.key)")
        #expect(fixed.exit == .exited(78) && fixed.failure?.contains("Permission denied") == true, "\(fixed)")
        #expect(try await lab.bash("h1", "cat /var/lib/s/known_peers").output == ["x"])
        try await lab.stop()
    }
}

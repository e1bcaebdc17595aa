import Foundation
import Testing

/// What shells complete from what the daemon knows, at a real terminal.
@Suite("completion of values", .labSlot)
struct CompletionTests {
    /// How each shell is started and takes its script; each has a prompt that ends with `$`.
    private static let shells = [
        "bash": ["source <(discoverd --generate-completion-script bash)"],
        "zsh": [
            "PROMPT='$ ' zsh -f",
            "autoload -Uz compinit; compinit -u -D; source <(discoverd --generate-completion-script zsh)",
        ],
        "fish": [
            "fish --no-config", "function fish_prompt; echo '$ '; end; set -g fish_autosuggestion_enabled 0",
            "discoverd --generate-completion-script fish | source",
        ],
    ]

    @Test(
        "names, types and interfaces; a name that is a command runs nothing; without a daemon silence",
        arguments: Everything.of(shells.keys.sorted(), inAChange: ["bash"]))
    func completes(_ shell: String) async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "browse: [_complete._tcp]\n")
        let evil = "a$(touch m1)`touch m2`$HOME"
        let other = "b (touch m3);touch m4 | touch m5 >m6&"
        var publishers: [LabProcess] = []
        for name in [evil, other, "Tony's 東京 \"Mac\""] {
            publishers.append(try await lab.publish("h2", name, "9000", "--type", "_complete._tcp"))
        }
        _ = try await daemon.curl("/v1/services") { try $0.objects("services").count == 3 }
        let folder = try TestFolder()
        let home = try TestFolder()
        let screen = try await TerminalScreen(lab, "h1", "HOME=\(home.path)")
        try await screen.run("cd \(folder.path); PATH=\(Built.directory.path):$PATH")
        for command in try #require(Self.shells[shell]) { try await screen.run(command) }
        try await screen.run("clear; echo load''ed")
        try await screen.shows("the script is there") { $0.contains("loaded") }

        func complete(_ text: String, to whole: String) async throws {
            try await screen.press(text, "Tab")
            try await screen.shows(whole) { $0.joined().contains(whole) }
            try await screen.press("Enter")
        }
        try await complete("discoverd resolve b", to: #"\;touch\ m4\ \|"#)
        try await screen.shows("name      \(other)")
        if shell == "bash" {
            // `$` and backquotes would stay what they are.
            try await screen.press("discoverd resolve a", "Tab", "!")
            try await screen.shows("nothing was added") { $0.last?.hasSuffix("discoverd resolve a!") == true }
            try await screen.press("C-u")
        } else {
            try await complete("discoverd resolve a", to: #"resolve a\$\(touch\ m1\)"#)
            try await screen.shows("name      \(evil)")
        }
        try await complete("discoverd resolve To", to: "東京")
        try await screen.shows("name      Tony's 東京 \"Mac\"")
        try await complete("discoverd browse -t _comp", to: "browse -t _complete._tcp")
        try await complete("discoverd browse _complete._tcp -t --interface et", to: "--interface eth0")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)

        try await daemon.stop()
        try await screen.run("clear; echo alo''ne")
        try await screen.shows("no daemon") { $0.contains("alone") }
        try await screen.press("discoverd resolve To", "Tab", "!")
        let lines = try await screen.shows("nothing was added") {
            $0.last?.contains("resolve To") == true && $0.last?.hasSuffix("!") == true
        }
        #expect(lines.last?.hasSuffix("discoverd resolve To!") == true, "\(lines)")
        try await screen.close()
        for publisher in publishers { try await publisher.stop() }
        try await lab.stop()
    }
}

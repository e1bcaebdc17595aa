#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

/// Names and types for a shell's completion, from what the daemon knows. Without a daemon there are none: asking the link takes too long.
enum DaemonCandidates {
    /// A person who pressed Tab waits.
    private static let patience = Duration.milliseconds(300)
    /// How long the daemon may listen to the link, in seconds, for what it does not know yet.
    private static let listening = "0.2"

    /// For an argument that is a type.
    static let types = CompletionKind.custom { words, _, _ in
        ShellCandidates.list(strings("type", of: "types", from: "/v1/types", words))
    }

    /// For an argument that is a service's name: of those that the daemon publishes where the command is about them.
    static let names = CompletionKind.custom { words, _, _ in
        let isOwn = words.dropFirst().first.map { ["unpublish", "update"].contains($0) } ?? false
        return ShellCandidates.list(
            isOwn
                ? strings("name", of: "registrations", from: "/v1/registrations", words)
                : strings("name", of: "services", from: "/v1/services?resolve=0", words))
    }

    /// Each once, in their order.
    private static func strings(_ member: String, of list: String, from target: String, _ words: [String]) -> [String] {
        guard !words.contains("--no-daemon") else { return [] }
        let paths = ControlSocketPath.candidates(explicit: socket(words))
        guard let daemon = ControlClient.find(paths, within: patience).daemon else { return [] }
        let wait = list == "registrations" ? "" : "\(target.contains("?") ? "&" : "?")wait=\(listening)"
        let answer = daemon.answer(to: ControlClient.Request("GET", target + wait), within: patience * 3)
        guard case .success(let bytes) = answer, let json = try? JSONReader.read(bytes) else { return [] }
        return Set((json[list]?.array ?? []).compactMap { $0[member]?.string }).sorted()
    }

    /// What `--socket` names, as far as the words can be understood without a shell.
    private static func socket(_ words: [String]) -> String? {
        if let joined = words.first(where: { $0.hasPrefix("--socket=") }) {
            return String(joined.dropFirst("--socket=".count))
        }
        guard let index = words.firstIndex(of: "--socket"), words.indices.contains(index + 1) else { return nil }
        return words[index + 1]
    }
}
#endif

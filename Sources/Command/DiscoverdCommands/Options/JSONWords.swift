#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryJSON

/// `--json=VERSION` on a command line: the parser has no flag that may have a value, so it gets one flag a version.
enum JSONWords {
    private static let version2 = "--json-2"
    /// Commands whose standard output may be a connection's.
    private static let connected: Set<String> = ["connect", "listen"]

    /// The arguments for the parser.
    static func parsed(_ arguments: [String]) throws(CommandError) -> [String] {
        guard !["---completion", "daemon"].contains(arguments.first) else { return arguments }
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        var parsed = arguments
        for index in arguments[..<end].indices {
            let argument = arguments[index]
            if argument == "--json", index + 1 < end, ["1", "2"].contains(arguments[index + 1]) {
                let word = arguments[index + 1]
                throw CommandError(
                    .usage, "--json takes its version after an equals sign",
                    advice: ["Write --json=\(word); where \(word) is a name, --json stands behind it."])
            }
            guard argument.hasPrefix("--json=") else { continue }
            switch argument.dropFirst("--json=".count) {
            case "1": parsed[index] = "--json"
            case "2": parsed[index] = version2
            case let version:
                throw CommandError(
                    .usage, "--json=\(String(version).escapedForTerminal): there are the versions 1 and 2")
            }
        }
        return parsed
    }

    /// A text about a command line as it was written.
    static func written(_ text: String) -> String { text.replacing(version2, with: "--json=2") }

    /// How a command line is told that it is wrong.
    static func report(of arguments: [String]) -> FailureReport {
        let options = arguments.prefix { $0 != "--" }
        return FailureReport(
            version: options.contains(version2) || options.contains("--json=2") ? .two : nil,
            isOnStandardError: connected.contains(arguments.first ?? ""))
    }
}
#endif

#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// Writes today's keys into the daemon's configuration.
struct ConfigCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Rewrites keys of the version before in the daemon's configuration.",
        discussion: """
            It prints each line that goes (-) and comes (+). Everything else in the file stays, and so do its owner and its mode. Where the \
            configuration's schema is installed, the first line names it for editors.

            Examples:
              sudo discoverd setup config
            """)

    @Argument(help: "The file; default: /etc/discoverd/discoverd.yaml.", completion: .file())
    var file = "/etc/discoverd/discoverd.yaml"

    /// The largest file that the daemon reads.
    private static let most = 256 * 1024

    func run(with more: (any MoreSupport)?) throws {
        let shown = file.escapedForTerminal
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try SystemFile.read(file, atMost: Self.most) } catch {
            throw CommandError(.noInput, shown, errno: error.code)
        }
        let keys: ConfigurationKeys
        let modeline = LargeProgram.modeline("discoverd.schema.json")
        do throws(ConfigurationKeys.Unclear) { keys = try ConfigurationKeys(bytes, modeline: modeline) } catch {
            throw CommandError(.badConfiguration, "\(shown):\(error.line): \(error.reason)")
        }
        guard !keys.changes.isEmpty else { return ProgramNotices().notice("\(shown) has today's keys") }
        do throws(SystemError) { try SystemFile.rewrite(file, with: keys.bytes) } catch {
            throw CommandError(error.code == EACCES ? .notPermitted : .cannotCreate, shown, errno: error.code)
        }
        if let loss = keys.loss { ProgramNotices().notice(loss) }
        try Output.write(keys.changes.map { $0.escapedForTerminal + "\n" }.joined().utf8)
    }
}

/// A configuration in today's keys. Its lines are changed as text: comments stay, and this program reads no YAML. A value.
struct ConfigurationKeys: Equatable {
    /// What cannot be changed so.
    struct Unclear: Error, Equatable {
        let line: Int
        let reason: String
    }

    private(set) var bytes: [UInt8]
    /// How the comment begins that names a file's schema for editors.
    static let modeline = "# yaml-language-server: $schema="
    /// Lines that go, after `- `, and come, after `+ `.
    private(set) var changes: [String] = []
    /// What the new key does not say.
    private(set) var loss: String?

    private struct Line {
        let number: Int
        let value: String
        /// With the blanks before it.
        let comment: String
    }

    /// - Parameter modeline: the first line to have where no line names a schema.
    init(_ bytes: [UInt8], modeline: String? = nil) throws(Unclear) {
        self.bytes = bytes
        try replaceKeys()
        let text = String(decoding: bytes, as: UTF8.self)
        guard let modeline, !text.contains("yaml-language-server:") else { return }
        self.bytes = Array("\(modeline)\n".utf8) + self.bytes
        changes.append("+ \(modeline)")
    }

    private mutating func replaceKeys() throws(Unclear) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        var old: [String: Line] = [:]
        for (number, line) in lines.enumerated() {
            for key in ["avahi", "backend", "finder"] {
                guard let found = try Self.line(line, of: key, number) else { continue }
                guard old.updateValue(found, forKey: key) == nil else {
                    throw Unclear(line: number + 1, reason: "the key \(key) is there twice")
                }
            }
        }
        guard let first = [old["backend"], old["finder"]].compactMap(\.self).min(by: { $0.number < $1.number }) else {
            return
        }
        if let avahi = old["avahi"] {
            throw Unclear(line: avahi.number + 1, reason: "avahi is there beside an old key: remove one of them")
        }
        guard let backend = AvahiUse.Backend(named: old["backend"]?.value ?? "auto"),
            let finder = AvahiUse.Finder(rawValue: old["finder"]?.value ?? "auto"),
            let now = AvahiUse.ofOld[AvahiUse.Old(backend, finder)]
        else {
            throw Unclear(
                line: first.number + 1,
                reason: "no old value of `backend` or `finder` reads so: write avahi: auto, always or never")
        }
        let comments = [old["backend"], old["finder"]].compactMap { $0?.comment }.map {
            $0.prefix { $0 == " " } + $0.trimmed()
        }
        let ending = lines[first.number].hasSuffix("\r") ? "\r" : ""
        let new = "avahi: \(now.use.rawValue)\(comments.joined())\(ending)"
        for (number, line) in lines.enumerated() where [old["backend"]?.number, old["finder"]?.number].contains(number)
        {
            changes.append("- \(line.trimmed())")
        }
        changes.append("+ \(new.trimmed())")
        lines[first.number] = new
        if let second = [old["backend"], old["finder"]].compactMap({ $0?.number }).max(), second != first.number {
            lines.remove(at: second)
        }
        self.bytes = Array(lines.joined(separator: "\n").utf8)
        loss = now.finder.map {
            "`finder: \($0.rawValue)` goes, and no key takes its place; 'discoverd daemon --finder \($0.rawValue)' is there to look for a fault"
        }
    }

    /// A line of the outermost mapping with this key.
    private static func line(_ text: String, of key: String, _ number: Int) throws(Unclear) -> Line? {
        guard text.hasPrefix(key) else { return nil }
        let rest = text.dropFirst(key.count).drop { $0 == " " }
        guard rest.first == ":", rest.dropFirst().first.map({ $0 == " " || $0.isNewline }) ?? true else { return nil }
        let value = rest.dropFirst()
        let mark = value.indices.first { value[$0] == "#" && value[..<$0].last == " " } ?? value.endIndex
        let said = value[..<mark]
        let comment = String(said.reversed().prefix { $0 == " " }) + value[mark...]
        var word = said.trimmed()
        if let quote = word.first, "\"'".contains(quote), word.count > 1, word.last == quote {
            word = String(word.dropFirst().dropLast())
        }
        return Line(number: number, value: ["", "~", "null"].contains(word) ? "auto" : word, comment: comment)
    }
}
#endif

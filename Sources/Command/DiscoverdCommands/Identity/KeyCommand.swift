#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc
internal import PeerIdentity

/// Which key is whose.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Lets machines trust each other: shows this one's key, and whose keys are known.",
        discussion: """
            Examples:
              discoverd key show
              discoverd key pair h1                   two machines trust each other, by a code that people compare
              discoverd key list
              discoverd key add tony._witap._tcp.local SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU
              discoverd key forget tony._witap._tcp.local
              discoverd key forget SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU
              discoverd key forget @h2 --file filedrop_senders
            """,
        subcommands: [
            ShowKey.self, ListKnown.self, AddKnown.self, ForgetKnown.self, PairCommand.self, HashKnown.self,
        ]
    )

    /// A name that stands for something: whatever else was added would only look as if it did.
    static func newName(_ text: String) throws -> PeerName {
        // A vertical bar begins a hash.
        if let name = PeerName(text), !text.hasPrefix("|"), !text.hasPrefix("@|") {
            guard case .host(let host) = name else { return name }
            let labels = host.text.split(separator: ".")
            let isDialled = labels.count > 1 && !labels.contains { $0.hasPrefix("_") }
            if isDialled || IPAddress(text) != nil { return name }
        }
        throw ValidationError(
            "'\(text)' is no name of a service, host or caller: tony._witap._tcp.local, h1.local, 10.0.0.7 or @label, as "
                + "'discoverd key list' prints.")
    }

    static func name(_ text: String) throws -> PeerName {
        guard let name = PeerName(text) else {
            throw ValidationError(
                "'\(text)' is no name: tony._witap._tcp.local, h1.local, or @label as 'discoverd key list' prints.")
        }
        return name
    }
}

struct ListKnown: LocalCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Shows whose keys are known.")

    @Flag(exclusivity: .chooseLast)
    var json: JSONVersion?

    @OptionGroup var options: KnownFileOption

    static var onlyPrints: Bool { true }

    func run(with more: (any MoreSupport)?) throws {
        let file = try options.file.path()
        let known = try file.reporting { try file.read() }
        if !known.unreadable.isEmpty {
            let numbers = known.unreadable.prefix(10).map(String.init).joined(separator: ", ")
            ProgramNotices().notice(
                "\(file.path.escapedForTerminal): line\(known.unreadable.count == 1 ? "" : "s") \(numbers) "
                    + "\(known.unreadable.count == 1 ? "makes" : "make") no sense, and stay as they are")
        }
        if known.entries.isEmpty {
            ProgramNotices().hint("no key is known; 'discoverd key pair' makes two machines known to each other")
        }
        // For people as the file has it.
        let gap = isatty(STDOUT_FILENO) == 1 ? " " : "\t"
        var lines: [UInt8] = []
        for (name, key) in known.entries {
            guard let version = json else {
                lines += Array("\(name)\(gap)\(key)\n".utf8)
                continue
            }
            lines += version.line { writer in
                writer.line("known") { object in
                    object.member("name", name)
                    object.member("fingerprint", key.description)
                }
            }
        }
        try Output.write(lines)
    }
}

struct AddKnown: LocalCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Makes a key known.")

    @Argument(
        help: "The service, host or label: tony._witap._tcp.local, h1.local, @anna.", transform: KeyCommand.newName)
    var name: PeerName

    @Argument(
        help: ArgumentHelp("The key, as 'discoverd key show' prints it there.", valueName: "SHA256:base64"),
        transform: Parsing.key)
    var key: KeyFingerprint

    @OptionGroup var options: KnownFileOption

    var needsMore: String? { options.file.isHashed ? "hashes names" : nil }

    func run(with more: (any MoreSupport)?) throws {
        let refusal = try options.file.path(more?.hmac).changing { known -> [KeyFingerprint] in
            let others = known.keys(of: name).filter { $0 != key }
            if others.isEmpty { known.add(KnownPeers.Peer(name, key)) }
            return others
        }
        guard let old = refusal.first else { return }
        throw CommandError(
            .notPermitted, "\(name.text) has another key: \(old)",
            advice: ["If that key is out of use: discoverd key forget \(name.quotedForShell), and add it again."])
    }
}

struct ForgetKnown: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Forgets the keys of a name, or all names of a key.")

    @Argument(
        help: ArgumentHelp("The service, host or label; or a key, with all its names.", valueName: "name"),
        transform: Target.init(argument:))
    var target: Target

    /// What is forgotten.
    enum Target: Sendable {
        case name(PeerName)
        case key(KeyFingerprint)

        init(argument text: String) throws {
            if let key = KeyFingerprint(text) { self = .key(key) } else { self = .name(try KeyCommand.name(text)) }
        }
    }

    @OptionGroup var options: KnownFileOption

    var needsMore: String? { options.file.isHashed ? "hashes names" : nil }

    func run(with more: (any MoreSupport)?) throws {
        let file = try options.file.path(more?.hmac)
        tellOthers(more?.hmac)
        switch target {
        case .key(let key):
            if try file.changing({ $0.forget(key) }) == 0 { throw CommandError(.notFound, "\(key) is not known") }
        case .name(let name):
            let (count, others) = try file.changing { known in
                let keys = Set(known.keys(of: name))
                let count = known.forget(name)
                return (count, known.entries.filter { keys.contains($0.key) })
            }
            if count == 0 { throw CommandError(.notFound, "no key of \(name.text) is known") }
            guard let other = others.first else { return }
            let names = others.prefix(3).map(\.name).joined(separator: ", ") + (others.count > 3 ? ", …" : "")
            ProgramNotices().notice("its key is still known as \(names): discoverd key forget \(other.key)")
        }
    }
}

extension ForgetKnown {
    /// filedrop's files are its own: what is forgotten here may go on there.
    private func tellOthers(_ hmac: HashedName.HMAC?) {
        for other in [KnownFile.senders, .fetchers] where options.file == .knownPeers {
            guard let known = try? other.path(hmac).read() else { continue }
            let word: String?
            switch target {
            case .key(let key): word = known.entries.contains { $0.key == key } ? key.description : nil
            case .name(let name): word = known.keys(of: name).isEmpty ? nil : name.quotedForShell
            }
            guard let word else { continue }
            ProgramNotices().notice(
                "\(other.rawValue) has it, too: discoverd key forget \(word) --file \(other.rawValue)")
        }
    }
}

struct HashKnown: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash",
        abstract: "Hashes the names: the files no longer say whose keys are known.",
        discussion: """
            Names that become known later are hashed, too. Nothing brings the names back; whoever knows one can still ask for it, and 'key forget' \
            finds it.
            """
    )

    var needsMore: String? { "hashes names" }

    func run(with more: (any MoreSupport)?) throws {
        for file in KnownFile.allCases { _ = try file.path(more?.hmac).changing { $0.hashNames() } }
    }
}

extension KnownPeersFile {
    /// `change`, with its failure as a command's.
    func changing<Result>(_ body: (inout KnownPeers) throws -> Result) throws -> Result {
        try reporting { try change(body) }
    }

    fileprivate func reporting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as Failure {
            throw CommandError(.badConfiguration, failure.description.escapedForTerminal)
        }
    }
}

struct ShowKey: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows this machine's key, by which others know it.",
        discussion: """
            The key is made at first use. Each user has one, and root's is the machine's. Others add it with
            'discoverd key add NAME SHA256:…', or take it at their first connection. The ten words are the same key, to read aloud and
            compare on the telephone.
            """
    )

    @Flag(exclusivity: .chooseLast)
    var json: JSONVersion?

    var needsMore: String? { "has the key" }
    static var onlyPrints: Bool { true }

    func run(with more: (any MoreSupport)?) throws {
        guard let identity = try more?.identity() else { throw CommandError.noTLS }
        guard let version = json else {
            let words = identity.fingerprint.words.joined(separator: " ")
            guard isatty(STDOUT_FILENO) == 1 else {
                try Output.write("\(identity.fingerprint)\t\(identity.label.escapedForTerminal)\n\(words)\n".utf8)
                return
            }
            let lines = words.wrapped(to: TerminalText.columns(STDOUT_FILENO).map { $0 - 10 } ?? 70)
            let text = """
                key      \(identity.fingerprint)
                label    \(identity.label.escapedForTerminal)
                to read aloud, for whoever compares the key:

                """
            try Output.write((text + lines.map { "         \($0)\n" }.joined()).utf8)
            return
        }
        let line = version.line { writer in
            writer.line("identity") { object in
                object.member("fingerprint", identity.fingerprint.description)
                object.member("words", identity.fingerprint.words.joined(separator: " "))
                object.member("label", identity.label)
                object.member("path", identity.path)
            }
        }
        try Output.write(line)
    }
}
#endif

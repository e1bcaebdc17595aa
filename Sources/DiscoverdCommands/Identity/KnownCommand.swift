#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryJSON
internal import PeerIdentity
internal import System

/// Which key is whose.
struct KnownCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "known",
        abstract: "Shows and changes whose keys are known.",
        discussion: """
            Examples:
              discoverd known
              discoverd known add tony._witap._tcp.local SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU
              discoverd known forget tony._witap._tcp.local
            """,
        subcommands: [ListKnown.self, AddKnown.self, ForgetKnown.self],
        defaultSubcommand: ListKnown.self
    )

    /// The file of this user.
    static func file() throws -> KnownPeersFile {
        guard let directory = Environment.stateDirectory else {
            throw CommandError(.badConfiguration, "there is no $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        if let problem = SystemFile.makeDirectory(directory) {
            throw CommandError(.badConfiguration, problem.description.escapedForTerminal)
        }
        return KnownPeersFile(path: "\(directory)/\(KnownPeersFile.name)")
    }

    static func name(_ text: String) throws -> PeerName {
        guard let name = PeerName(text) else {
            throw ValidationError(
                "'\(text)' is no name: tony._witap._tcp.local, h1.local, or @label as 'discoverd known' prints.")
        }
        return name
    }
}

struct ListKnown: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Shows whose keys are known.")

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        let file = try KnownCommand.file()
        let known: KnownPeers
        do throws(KnownPeersFile.Failure) {
            known = try file.read()
        } catch {
            throw CommandError(.badConfiguration, error.description.escapedForTerminal)
        }
        if !known.unreadable.isEmpty {
            let numbers = known.unreadable.prefix(10).map(String.init).joined(separator: ", ")
            ProgramNotices().notice(
                "\(file.path.escapedForTerminal): line\(known.unreadable.count == 1 ? "" : "s") \(numbers) "
                    + "\(known.unreadable.count == 1 ? "makes" : "make") no sense, and stay as they are")
        }
        for peer in known.peers {
            guard json else {
                print("\(peer.name) \(peer.key)")
                continue
            }
            var writer = JSONWriter()
            writer.line("known") { object in
                object.member("name", peer.name.description)
                object.member("fingerprint", peer.key.description)
            }
            print(String(decoding: writer.bytes, as: UTF8.self), terminator: "")
        }
    }
}

struct AddKnown: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Makes a key known.")

    @Argument(
        help: "The service, host or label: tony._witap._tcp.local, h1.local, @anna.", transform: KnownCommand.name)
    var name: PeerName

    @Argument(
        help: ArgumentHelp("The key, as 'discoverd identity' prints it there.", valueName: "SHA256:base64"),
        transform: { text in
            guard let key = KeyFingerprint(text) else {
                throw ValidationError("'\(text)' is no key: SHA256: and 43 characters, as 'discoverd identity' prints.")
            }
            return key
        })
    var key: KeyFingerprint

    func run() throws {
        let refusal = try KnownCommand.file().changing { known -> [KeyFingerprint] in
            let others = known.keys(of: name).filter { $0 != key }
            if others.isEmpty { known.add(KnownPeers.Peer(name, key)) }
            return others
        }
        guard let old = refusal.first else { return }
        throw CommandError(
            .notPermitted, "\(name.text) has another key: \(old)",
            advice: ["If that is over: discoverd known forget \(name.quotedForShell), and add it again."])
    }
}

struct ForgetKnown: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "forget", abstract: "Forgets the keys of a name.")

    @Argument(help: "The service, host or label.", transform: KnownCommand.name)
    var name: PeerName

    func run() throws {
        let count = try KnownCommand.file().changing { $0.forget(name) }
        if count == 0 { throw CommandError(.notFound, "no key of \(name.text) is known") }
    }
}

extension KnownPeersFile {
    /// `change`, with its failure as a command's.
    fileprivate func changing<Result>(_ body: (inout KnownPeers) throws -> Result) throws -> Result {
        do {
            return try change(body)
        } catch let failure as Failure {
            throw CommandError(.ioError, failure.description.escapedForTerminal)
        }
    }
}
#endif

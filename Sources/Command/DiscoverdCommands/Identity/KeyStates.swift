#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoverySystem
internal import PeerIdentity

/// Whether the keys that services had when this user last connected to them are known, as the files were when the command began.
struct KeyStates: Sendable {
    private let known: KnownPeers
    private let last: KnownPeers
    /// By name, where names can be read: a browser asks for each service.
    private let states: [PeerName: KeyState]
    private let hmac: HashedName.HMAC?

    /// - Parameter hmac: finds hashed names.
    init(_ hmac: HashedName.HMAC?) {
        self.hmac = hmac
        last = KnownFile.lastKeys.content(hmac)
        known = last.count == 0 ? KnownPeers() : KnownFile.knownPeers.content(hmac)
        var states: [PeerName: KeyState] = [:]
        if !last.isHashed {
            for peer in last.peers { states[peer.name] = known.state(of: peer.name, lastKeys: last) }
        }
        self.states = states
    }

    /// Nothing was connected to.
    var isEmpty: Bool { last.count == 0 }

    /// Nil for a service that was not connected to.
    func state(of instance: ServiceInstance) -> KeyState? {
        if isEmpty { return nil }
        let name = PeerName.service(instance)
        return last.isHashed ? known.state(of: name, lastKeys: last) : states[name]
    }

    /// Why 'connect --tls' would refuse a service, for people; nil where nothing is known of that. Safe for a terminal.
    /// - Parameter txt: its TXT record, which may name its key.
    func doubt(of instance: ServiceInstance, announcing txt: TXTRecord?) -> String? {
        let name = PeerName.service(instance)
        let known = KnownFile.knownPeers.content(hmac)
        if let warning = txt.flatMap({ KeyHint($0) })?.warning(of: name, known) { return warning }
        guard state(of: instance) == .changed else { return nil }
        return
            "\(name.text) had another key than the one that is known, when it was last connected to: 'connect --tls' refuses it"
    }

    /// Something was connected to, as far as can be said without reading.
    static var areKept: Bool { KnownFile.lastKeys.place().map { SystemFile.real($0.path) != nil } ?? false }

    /// The names are hashed, and the program that can read them is there.
    static var needHashes: Bool {
        areKept && KnownFile.lastKeys.content().isHashed && LargeProgram.isInstalled
    }
}

/// The files of known keys in a user's state directory; all are of one format.
enum KnownFile: String, CaseIterable, ExpressibleByArgument {
    case knownPeers = "known_peers"
    case lastKeys = "last_keys"
    /// Peers from which `filedrop receive` takes files, and to which `filedrop offer` gives them, without asking.
    case senders = "filedrop_senders"
    case fetchers = "filedrop_fetchers"

    /// The file of this user; nil where there is no place for it.
    /// - Parameter hmac: finds and writes hashed names.
    func place(_ hmac: HashedName.HMAC? = nil) -> KnownPeersFile? {
        Environment.stateDirectory.map { KnownPeersFile(path: "\($0)/\(rawValue)", hmac: hmac) }
    }

    /// What it says; nothing where it cannot be read: `known` says why.
    func content(_ hmac: HashedName.HMAC? = nil) -> KnownPeers {
        place(hmac).flatMap { try? $0.read() } ?? KnownPeers()
    }

    /// The file, in a directory that is there.
    func path(_ hmac: HashedName.HMAC? = nil) throws -> KnownPeersFile {
        guard let directory = Environment.stateDirectory, let file = place(hmac) else {
            throw CommandError(.badConfiguration, "there is no $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        if let problem = SystemFile.makeDirectory(directory) {
            throw CommandError(.badConfiguration, problem.description.escapedForTerminal)
        }
        return file
    }

    /// Its names are hashed; false where that cannot be said: then it cannot be changed either.
    var isHashed: Bool { content().isHashed }
}

/// Which file is shown or changed.
struct KnownFileOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Another file than known_peers: last_keys, filedrop_senders or filedrop_fetchers.", valueName: "file"))
    var file = KnownFile.knownPeers
}
#endif

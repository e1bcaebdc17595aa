#if Commands
internal import DNSSD
internal import PeerIdentity
internal import DiscoverySystem

/// Whether the keys that services had when this user last connected to them are known, as the files were when the command began.
struct KeyStates: Sendable {
    private let known: KnownPeers
    private let last: KnownPeers
    /// By name, where names can be read: a browser asks for each service.
    private let states: [PeerName: KeyState]
    private let hmac: HashedName.HMAC?

    /// A file that cannot be read says nothing: `known` says why.
    /// - Parameter hmac: finds hashed names.
    init(_ hmac: HashedName.HMAC?) {
        guard let directory = Environment.stateDirectory else {
            (known, last, states) = (KnownPeers(), KnownPeers(), [:])
            self.hmac = hmac
            return
        }
        last = Self.read(KnownPeersFile.lastKeysName, in: directory, hmac)
        known = last.count == 0 ? KnownPeers() : Self.known(hmac)
        var states: [PeerName: KeyState] = [:]
        if !last.isHashed {
            for peer in last.peers { states[peer.name] = known.state(of: peer.name, lastKeys: last) }
        }
        self.states = states
        self.hmac = hmac
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
        if let warning = txt.flatMap({ KeyHint($0) })?.warning(of: name, Self.known(hmac)) { return warning }
        guard state(of: instance) == .changed else { return nil }
        return
            "\(name.text) had another key than the one that is known, when it was last connected to: 'connect --tls' refuses it"
    }

    private static func known(_ hmac: HashedName.HMAC?) -> KnownPeers {
        Environment.stateDirectory.map { read(KnownPeersFile.name, in: $0, hmac) } ?? KnownPeers()
    }

    /// Something was connected to, as far as can be said without reading.
    static var areKept: Bool {
        Environment.stateDirectory.map { SystemFile.real("\($0)/\(KnownPeersFile.lastKeysName)") != nil } ?? false
    }

    /// The names are hashed, and the program that can read them is there.
    static var needHashes: Bool {
        guard areKept, let directory = Environment.stateDirectory else { return false }
        return read(KnownPeersFile.lastKeysName, in: directory, nil).isHashed && SiblingProgram.dns.isInstalled
    }

    private static func read(_ name: String, in directory: String, _ hmac: HashedName.HMAC?) -> KnownPeers {
        (try? KnownPeersFile(path: "\(directory)/\(name)", hmac: hmac).read()) ?? KnownPeers()
    }
}
#endif

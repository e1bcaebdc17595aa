#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoverdCommands
internal import DiscoveryTLS
internal import Glibc
internal import PeerIdentity
internal import System

extension TLSSupport {
    /// With this user's identity and known peers.
    static var peers: TLSSupport {
        TLSSupport { socket, role, wish, notices throws(CommandError) in
            let tls: PeerTLS
            do throws(CommandError) {
                tls = try peerTLS(wish, notices)
            } catch {
                close(socket)
                throw error
            }
            return try await SecuredSocket.secure(socket, role, tls)
        } identity: { () throws(CommandError) in
            let directory = try stateDirectory()
            let identity = try identity(in: directory)
            return Identity(
                fingerprint: identity.fingerprint, label: identity.label,
                path: "\(directory)/\(MachineIdentity.fileName)")
        }
    }

    private static func peerTLS(_ wish: Wish, _ notices: ProgramNotices) throws(CommandError) -> PeerTLS {
        let directory = try stateDirectory()
        let identity = try identity(in: directory)
        let known = KnownPeersFile(path: "\(directory)/\(KnownPeersFile.name)")
        let ask = wish.asks ? TerminalQuestion.asker : nil
        do {
            var tls = try PeerTLS(identity: identity, known: known, trust: wish.trust, ask: ask)
            if let limit = wish.limit { tls.patience = limit }
            return tls
        } catch {
            throw CommandError(.badConfiguration, "this machine's key cannot be used: \("\(error)".escapedForTerminal)")
        }
    }

    private static func stateDirectory() throws(CommandError) -> String {
        guard let directory = Environment.stateDirectory else {
            throw CommandError(
                .badConfiguration,
                "there is no place for this machine's key: no $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        return directory
    }

    private static func identity(in directory: String) throws(CommandError) -> MachineIdentity {
        do throws(MachineIdentity.Failure) {
            if let credentials = Environment.directory("CREDENTIALS_DIRECTORY") {
                let path = "\(credentials)/\(MachineIdentity.fileName)"
                if unsafe access(path, F_OK) == 0 || errno != ENOENT { return try MachineIdentity(file: path) }
            }
            return try MachineIdentity(directory: directory, label: label)
        } catch {
            throw CommandError(.badConfiguration, "this machine's key: \(error.description.escapedForTerminal)")
        }
    }

    /// The machine for root, else user and machine.
    private static var label: String {
        let host = Environment.hostLabel ?? "unnamed"
        return geteuid() == 0 ? host : "\(Accounts.userName(of: geteuid()) ?? String(geteuid()))@\(host)"
    }
}

extension CommandError {
    /// What became of a connection with TLS.
    init(ofTLS error: any Error) {
        guard let refusal = error as? PeerRefusal else {
            self.init(.ioError, "the connection was lost: it ended without a word, and something may be missing")
            return
        }
        switch refusal {
        case .changed(let name, let known, let key):
            self.init(
                .notPermitted, "THE KEY OF \(name.text) HAS CHANGED",
                advice: [
                    "Someone may be in between, or answer in its place; or it has been set up anew. Nothing was sent to it.",
                    "It was \(known.first?.description ?? "")",
                    "It is  \(key)",
                    "Ask there for its key ('discoverd identity'). If it is this one:",
                    "  discoverd known forget \(name.quotedForShell) && discoverd known add \(name.quotedForShell) \(key)",
                ])
        case .unknown(let name, let key):
            self.init(
                .notPermitted, refusal.description,
                advice: [
                    "Compare it with what 'discoverd identity' prints there; if it is the same:",
                    "  discoverd known add \(name.quotedForShell) \(key)",
                ])
        case .foreign, .expired, .unreadable: self.init(.notPermitted, refusal.description)
        case .refusedByPeer:
            self.init(
                .notPermitted, refusal.description,
                advice: ["There: discoverd known add '@LABEL' KEY, with what 'discoverd identity' prints here."])
        case .unreadableFile: self.init(.badConfiguration, refusal.description)
        case .noTLS, .timedOut: self.init(.unreachable, refusal.description)
        }
    }
}
#endif

#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoverdCommands
internal import DiscoveryTLS
internal import Libc
internal import PeerIdentity
internal import DiscoverySystem

extension TLSSupport {
    /// With this user's identity and known peers.
    static var peers: TLSSupport {
        // Read once: what was announced is what is shown.
        let kept = Locked<MachineIdentity?>(nil)
        let made = Locked<Made?>(nil)
        return TLSSupport(hmac: HashedName.hmac) { socket, role, wish, notices throws(CommandError) in
            let tls: PeerTLS
            let directory: IdentityDirectory
            do throws(CommandError) {
                directory = try self.directory()
                let asks = wish.asks && TerminalQuestion.isPossible
                if let ready = made.withLock({ $0?.tls(for: wish, asks: asks) }) {
                    tls = ready
                } else {
                    tls = try peerTLS(wish, in: directory, asks: asks, kept, notices)
                    made.withLock { $0 = Made(wish: wish, asks: asks, tls: tls) }
                }
            } catch {
                close(socket)
                throw error
            }
            do throws(SecuredSocket.Failure) {
                let (link, peer) = try await SecuredSocket.secure(socket, role, tls)
                await LastKeys.note(peer, in: directory.path)
                return link
            } catch {
                if let peer = (error.cause as? PeerRefusal)?.shown { await LastKeys.note(peer, in: directory.path) }
                throw CommandError(ofTLS: error.cause, to: role == .answering ? nil : tls.identity)
            }
        } identity: { () throws(CommandError) in
            let directory = try directory()
            let identity = try identity(in: directory, kept)
            return Identity(
                fingerprint: identity.fingerprint, label: identity.label,
                path: directory.identityPath)
        } pairing: { role, key throws(CommandError) in
            let identity = try identity(in: directory(), kept)
            do throws(PairingExchange.Failure) {
                return try PairingExchange(
                    role, own: identity.fingerprint, peer: key, digest: PairingExchange.sha256)
            } catch {
                throw CommandError(.notPermitted, "no pairing: \(error)")
            }
        }
    }

    /// What serves one connection after another: a flood of them must not cost two contexts of TLS each.
    private struct Made: Sendable {
        let wish: Wish
        let asks: Bool
        let tls: PeerTLS

        /// Certificate authorities are read anew for each: their files may have changed.
        func tls(for wish: Wish, asks: Bool) -> PeerTLS? {
            if case .authority = wish.trust { return nil }
            return self.wish == wish && self.asks == asks ? tls : nil
        }
    }

    /// Callers to whom a person has said no, until the program ends.
    private static let declined = Locked<Set<KeyFingerprint>>([])
    private static let mostDeclined = 1000

    private static func peerTLS(
        _ wish: Wish, in directory: IdentityDirectory, asks: Bool, _ kept: Locked<MachineIdentity?>,
        _ notices: ProgramNotices
    ) throws(CommandError) -> PeerTLS {
        let identity = try identity(in: directory, kept)
        var ask: (@Sendable (PeerTLS.Question) async -> Bool)?
        if asks {
            ask = { question in
                guard !declined.withLock({ $0.contains(question.key) }) else { return false }
                let answer = await TerminalQuestion.ask(question.text, answers: ["yes", "no"])
                // Who calls again is not asked about again.
                if answer == "no", case .label = question.name {
                    declined.withLock { if $0.count < mostDeclined { $0.insert(question.key) } }
                }
                return answer == "yes"
            }
        }
        do {
            var tls = try PeerTLS(identity: identity, known: directory.known, trust: wish.trust, ask: ask)
            if let limit = wish.limit { tls.patience = limit }
            tls.vouched = { name, voucher in notices.notice(voucher.notice(of: name)) }
            return tls
        } catch let failure as PeerAuthority.Failure {
            throw CommandError(
                .badConfiguration, "the certificate authority: \(failure.description.escapedForTerminal)")
        } catch {
            throw CommandError(.badConfiguration, "this machine's key cannot be used: \("\(error)".escapedForTerminal)")
        }
    }

    private static func directory() throws(CommandError) -> IdentityDirectory {
        do throws(MachineIdentity.Failure) {
            return try IdentityDirectory()
        } catch {
            throw CommandError(.badConfiguration, error.description)
        }
    }

    private static func identity(
        in directory: IdentityDirectory, _ kept: Locked<MachineIdentity?>
    ) throws(CommandError) -> MachineIdentity {
        if let identity = kept.withLock({ $0 }) { return identity }
        let identity = try read(in: directory)
        return kept.withLock { kept in
            kept = kept ?? identity
            return kept ?? identity
        }
    }

    private static func read(in directory: IdentityDirectory) throws(CommandError) -> MachineIdentity {
        do throws(MachineIdentity.Failure) {
            return try directory.identity()
        } catch {
            throw CommandError(.badConfiguration, "this machine's key: \(error.description.escapedForTerminal)")
        }
    }
}
#endif

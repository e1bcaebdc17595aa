#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoverySystem
internal import PeerIdentity

/// The machine to pair with: its label, its key, and what is known of both.
struct PairingPeer: Sendable {
    let label: String
    let key: KeyFingerprint
    /// Finds and writes hashed names.
    private let hmac: HashedName.HMAC
    /// Names that the key has, other than those that pairing gives it.
    let otherNames: [PeerName]

    /// For messages; safe for a terminal.
    var name: String { PeerName.label(label).text }
    /// What pairing stores.
    var names: [PeerName] { PeerName.paired(label) }

    /// - Throws: `CommandError` with status 77 where one of its names has another key.
    init(_ link: SecuredConnection, _ hmac: @escaping HashedName.HMAC) async throws {
        guard case .label(let label) = link.peer else {
            throw CommandError(.unreachable, "\(link.peer.text) does not say who it is")
        }
        let key = link.key
        let known = try await BlockingThread.value { try KnownFile.knownPeers.path(hmac).changing { $0 } }
        if let conflict = known.conflict(pairing: key, labelled: label) { throw Self.failure(conflict, key) }
        (self.label, self.key, self.hmac) = (label, key, hmac)
        let names = PeerName.paired(label)
        otherNames = known.names(of: key).filter { !names.contains($0) }
    }

    /// What the person is asked; safe for a terminal.
    func question(_ code: PairingCode) -> String {
        var lines = ["The key of the other machine is", "  \(key)"]
        if !otherNames.isEmpty {
            let more = otherNames.count > 3 ? ", …" : ""
            lines.append(
                "It is known under another name: \(otherNames.prefix(3).map(\.text).joined(separator: ", "))\(more)")
        }
        // What it says of itself stands alone, below what it has no say in.
        lines += ["", "    \(code)", "", "It calls itself", "  \(name)"]
        return (lines + ["", "Does the other machine show the same code (yes/no)?"])
            .joined(separator: "\n")
    }

    /// Makes the key known.
    func store() async throws {
        let (label, key, hmac) = (label, key, hmac)
        let conflict = try await BlockingThread.value {
            try KnownFile.knownPeers.path(hmac).changing { $0.pair(key, labelled: label) }
        }
        if let conflict { throw Self.failure(conflict, key) }
    }

    private static func failure(_ known: KnownPeers.Peer, _ key: KeyFingerprint) -> CommandError {
        CommandError(
            .notPermitted, "THE KEY OF \(known.name.text) HAS CHANGED",
            advice: [
                "Someone may be in between, or give itself its name; or it has been set up anew. Nothing was stored.",
                "It was \(known.key)",
                "It is  \(key)",
                "If it was set up anew: discoverd key forget \(known.name.quotedForShell), and pair again.",
            ])
    }
}

/// One attempt to pair over a connection that has just been made.
struct PairingTalk: Sendable {
    /// How an attempt ended.
    enum End: Sendable {
        case paired
        /// A person, or what is known, decided against it: no further attempt.
        case refused(CommandError)
        /// It failed before a person decided.
        case failed(CommandError)
    }

    let tls: any MoreSupport
    let role: PairingExchange.Role
    let report: PairingReport

    /// How long the other side may take to close once everything is sent.
    private static let farewell = Duration.seconds(3)

    func run(_ socket: Socket, _ turns: PairingTurns = .only) async -> End {
        let link: SecuredConnection
        do throws(CommandError) {
            let wish = TLSWish(trust: .strangers, asks: false)
            link = try await tls.secure(
                socket.handOver(), as: role == .caller ? .meeting : .answering, wish, report.notices)
        } catch {
            return beforeCode(error)
        }
        // Closed with its last reference, because a thread reads it.
        let inner = Socket(owning: link.descriptor)
        let end = await converse(inner, link, turns)
        // What was said last must arrive.
        inner.endSending()
        let failure = await failure(of: link)
        inner.end()
        // With TLS 1.3, the other side refuses this one only after the handshake.
        if case .failed = end, let failure, failure.status == .notPermitted { return beforeCode(failure) }
        return end
    }

    private func converse(_ socket: Socket, _ link: SecuredConnection, _ turns: PairingTurns) async -> End {
        var conversation: PairingConversation
        do {
            let peer = try await PairingPeer(link, tls.hmac)
            conversation = PairingConversation(
                try tls.pairing(role, with: link.key), role, with: peer, over: socket, report, turns)
        } catch let error as CommandError {
            return beforeCode(error)
        } catch {
            return .failed(CommandError(.systemError, "\(error)"))
        }
        do {
            return try await conversation.run()
        } catch let error as CommandError {
            return error.status == .notPermitted ? .refused(error) : .failed(error)
        } catch {
            return .failed(CommandError(.systemError, "\(error)"))
        }
    }

    /// The end of an attempt without a person. A machine that waits goes on, because anyone can call it.
    private func beforeCode(_ error: CommandError) -> End {
        role == .caller && error.status == .notPermitted ? .refused(error) : .failed(error)
    }

    /// Why the connection ended; waits a little for its end.
    private func failure(of link: SecuredConnection) async -> CommandError? {
        let isOver = Gate()
        let failure = Locked<CommandError?>(nil)
        Task {
            let reason = await link.end()
            failure.withLock { $0 = reason }
            isOver.open()
        }
        await isOver.wait(atMost: Self.farewell)
        return failure.withLock { $0 }
    }
}
#endif

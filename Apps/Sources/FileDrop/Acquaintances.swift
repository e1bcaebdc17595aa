import AppTLS
import CommandFrame
import DiscoveryTLS
import FileDropCore
import NIOCore
import PeerIdentity
import Synchronization

/// Whose files are taken, and who gets files: those whose keys are known, and those to whom the person at the terminal says yes.
final class Acquaintances: Sendable {
    /// What this side does.
    enum Role: Sendable {
        /// It dialled a service, whose key is noted among the known peers.
        case dialling
        /// It was dialled, and keeps a file of its own of those who may always do what they want of it.
        case answering(fileName: String)
    }

    static let senders = Role.answering(fileName: "filedrop_senders")
    static let fetchers = Role.answering(fileName: "filedrop_fetchers")

    /// The most keys that become known without a person's yes, and the most that stay declined until the program ends.
    private static let most = 1000

    let tls: PeerTLS
    /// Whoever comes under a new name is let in.
    let trustsFirst: Bool
    private let role: Role
    private let questions = Mutex((pace: QuestionPace(now: .now), isOpen: false))
    private let declined = Mutex<Set<KeyFingerprint>>([])

    init(_ role: Role, _ options: PeerOptions, _ notices: ProgramNotices) throws(CommandError) {
        self.role = role
        trustsFirst = options.trustFirst
        let wish = try options.peerTrust()
        let trust: PeerTrust =
            switch (role, wish) {
            case (_, .pinned), (_, .authority): wish
            // Asked about, if at all, when there is a code to compare.
            case (.answering, _): .strangers
            case (.dialling, .known) where TerminalQuestion.isPossible: .strangers
            case (.dialling, _): wish
            }
        tls = try options.tls(trust: trust, asks: false) { notices.notice($0) }
    }

    /// Whether the other side may go on without a question.
    /// - Throws: `Refused` where no one is to be asked about it.
    func isKnown(_ peer: PeerTLS.Peer) async throws -> Bool {
        // The same user's on another terminal has this side's own key.
        let isOwn = peer.key == tls.identity.fingerprint
        guard let file = always, case .label(let label) = peer.name else { return !peer.isStranger || isOwn }
        // Whoever is noted under a name of its own does not take another's.
        if case .strangers = tls.trust, try await callers(file).conflict(peer.key, claiming: label) != nil {
            throw changed(peer, file)
        }
        guard peer.isStranger, !isOwn else { return true }
        let trust: PeerTrust = trustsFirst ? .first : .known
        let verdict = try await apart {
            try file.read().verdict(onCaller: peer.key, claiming: label, trust)
        }
        switch verdict {
        case .known: return true
        case .learned, .vouched:
            try await note(peer, in: file)
            return true
        case .changed, .foreign: throw changed(peer, file)
        case .unknown:
            guard TerminalQuestion.isPossible, !declined.withLock({ $0.contains(peer.key) }) else {
                throw unknown(peer, .unknownKey)
            }
            return false
        }
    }

    /// Whether the other side is known now, as far as the files say; changes nothing.
    func isNoted(_ peer: PeerTLS.Peer) async -> Bool {
        guard peer.isStranger, peer.key != tls.identity.fingerprint else { return true }
        guard let always, case .label(let label) = peer.name else { return false }
        return (try? await callers(always).isKnown(peer.key, claiming: label)) ?? false
    }

    /// Makes out the code that both sides show. That both persons say yes is what the transfer itself tells.
    func code(
        with peer: PeerTLS.Peer, send: ([UInt8]) async throws -> Void, next: () async throws -> [UInt8]
    ) async throws -> PairingCode {
        do {
            var exchange = try PairingExchange(always == nil ? .caller : .answerer, over: tls, with: peer)
            var steps = exchange.start()
            while true {
                var code: PairingCode?
                for step in steps {
                    switch step {
                    case .send(let bytes): try await send(bytes)
                    case .compare(let same): code = same
                    case .peerAnswered: throw MessageReader.nonsense
                    }
                }
                // What is sent behind it makes out the other side's.
                if let code { return code }
                steps = try exchange.received(try await next())
            }
        } catch let failure as PairingExchange.Failure {
            throw CommandError(.badData, "no code could be made out: \(failure)")
        }
    }

    /// Asks the person about a stranger.
    /// - Parameters:
    ///   - wish: what it wants, or what is to be done with it; a sentence.
    ///   - question: what is asked; without its answers.
    /// - Throws: `Refused`.
    func admit(_ introduction: Introduction, _ connection: DropConnection, _ wish: String, _ question: String)
        async throws
    {
        let peer = introduction.peer
        // Only what is shown counts: who finds another question open has taken nobody's turn.
        let obstacle: Reason? = questions.withLock { questions in
            if questions.isOpen { return .busy }
            guard questions.pace.asks(of: peer.key, now: .now) else { return .tooMany }
            questions.isOpen = true
            return nil
        }
        if let obstacle { throw unknown(peer, obstacle) }
        defer { questions.withLock { $0.isOpen = false } }
        let known = try? await blocking { [tls] in try tls.known.read() }
        let about = PeerTLS.Question(name: peer.name, key: peer.key, otherNames: known?.names(of: peer.key) ?? [])
        var lines: [String] = []
        if let code = introduction.code { lines.append("The code must be the same there: \(code)") }
        // What it says of itself stands below what it has no say in.
        lines += [about.introduction, wish]
        let answers = always == nil ? ["yes", "no"] : ["yes", "always", "no"]
        lines.append("\(question) (\(answers.joined(separator: "/")))?")
        let text = lines.joined(separator: "\n")
        let asking = Task { await TerminalQuestion.ask(text, answers: answers) }
        // A half-close is enough: who has something to send, or waits for an answer, keeps its direction open.
        connection.presence.whenOver { asking.cancel() }
        let answer = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }
        try Task.checkCancellation()
        guard connection.presence.isThere else { throw MessageReader.ended }
        switch answer {
        case "yes": if always == nil { try await note(peer, in: tls.known) }
        case "always":
            guard let always else { throw unknown(peer, .declined) }
            try await note(peer, in: always)
        case nil: throw unknown(peer, .unanswered)
        default:
            declined.withLock { if $0.count < Self.most { $0.insert(peer.key) } }
            throw unknown(peer, .declined)
        }
        connection.seat?.introduced(isKnown: true)
    }

    /// Who may always do what is wanted of this side; nil for a side that dialled.
    private var always: KnownPeersFile? {
        guard case .answering(let name) = role else { return nil }
        let folder = tls.known.path.dropLast(KnownPeersFile.name.utf8.count)
        return KnownPeersFile(path: String(folder) + name, hmac: tls.known.hmac)
    }

    /// By what name a side that is let in is known here: a caller's label, or its key. What it calls itself is no name.
    func name(of peer: PeerTLS.Peer) async -> String {
        guard let always, case .label(let claim) = peer.name else { return peer.name.shortText }
        // The authority answers for the label.
        if case .authority = tls.trust { return peer.name.shortText }
        let isOwn = peer.key == tls.identity.fingerprint
        let label = isOwn ? tls.identity.label : try? await callers(always).label(of: peer.key, claiming: claim)
        return label.map { PeerName.label($0).shortText } ?? "\(peer.key)"
    }

    private func callers(_ file: KnownPeersFile) async throws -> Callers {
        try await apart { [tls] in Callers([try tls.known.read(), try file.read()]) }
    }

    /// A person has said yes: looks again under the file's lock.
    private func note(_ peer: PeerTLS.Peer, in file: KnownPeersFile) async throws {
        let others = try await apart {
            try file.change { known in
                let others = known.keys(of: peer.name).filter { $0 != peer.key }
                if others.isEmpty { known.add(KnownPeers.Peer(peer.name, peer.key)) }
                return others
            }
        }
        guard others.isEmpty else {
            let refusal = PeerRefusal.changed(peer.name, known: others, now: peer.key)
            throw Refused(.newerKey, CommandError(refusal))
        }
    }

    /// Reads or changes a file of keys.
    private func apart<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        do {
            return try await blocking(body)
        } catch let failure as KnownPeersFile.Failure {
            throw Refused(.unreadableFile, CommandError(PeerRefusal.unreadableFile(failure.description)))
        }
    }

    private func changed(_ peer: PeerTLS.Peer, _ file: KnownPeersFile) -> Refused {
        let error = CommandError(
            .notPermitted, "THE KEY OF \(peer.name.text) HAS CHANGED: it is \(peer.key) now",
            advice: ["If it was set up anew, remove its line from \(file.path) or \(tls.known.path)."])
        return Refused(.changedKey, error)
    }

    private func unknown(_ peer: PeerTLS.Peer, _ told: Reason) -> Refused {
        Refused(told, CommandError(PeerRefusal.unknown(peer.name, peer.key)))
    }
}

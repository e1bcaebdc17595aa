#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import PeerIdentity
internal import DiscoverySystem

/// What two programs say to each other: over a connection as it is, or over TLS.
struct Conversation: Sendable {
    /// Carries the plain bytes.
    let socket: Socket
    private let link: SecuredConnection?

    fileprivate init(_ socket: Socket, _ link: SecuredConnection?) { (self.socket, self.link) = (socket, link) }

    /// Why it ended early; waits for its end.
    var failure: CommandError? { get async { await link?.end() } }

    /// Ends it, having said nothing.
    /// - Throws: where the other machine does not let this one in, which it says after the handshake.
    func end() async throws(CommandError) {
        socket.close()
        if let failure = await link?.end(), failure.status == .notPermitted { throw failure }
    }

    /// Joins it with standard input and output.
    func joinStandard() async throws {
        guard let link else { return try await StandardJoin.run(socket) }
        do {
            try await StandardJoin.run(socket) { await link.end() }
        } catch let error as CommandError {
            // What TLS says of it is the cause.
            socket.end()
            throw await link.end() ?? error
        }
        if let failure = await link.end() { throw failure }
    }
}

/// Begins conversations, over TLS where that is asked for.
struct Conversations: Sendable {
    private let wish: TLSWish?
    private let tls: (any MoreSupport)?
    private let notices: ProgramNotices
    /// Plain bytes are not meant for a machine that is known: TLS may have been forgotten.
    private let guardsPlain: Bool
    private let network: LocalNetwork
    /// The last warning: for a forwarded port it is shown once.
    private let doubt = Locked<String?>(nil)

    /// - Parameters:
    ///   - wish: nil: connections as they are.
    ///   - isPlain: also to services whose keys are known.
    init(_ wish: TLSWish?, isPlain: Bool = false, in session: Session) {
        (self.wish, tls, notices, network) = (wish, session.more, session.notices, session.network)
        guardsPlain = !isPlain && wish == nil
    }

    /// Before anyone calls: with keys that cannot be read, every caller would be refused.
    /// - Throws: status 78 where the file of known keys, if it counts, cannot be read, or a newer version has written it.
    func checkKnownKeys() throws(CommandError) {
        guard let wish, let tls, wish.trust == .known || wish.trust == .first else { return }
        do throws(KnownPeersFile.Failure) {
            _ = try KnownFile.knownPeers.place(tls.hmac)?.read()
        } catch {
            throw CommandError(.badConfiguration, "the known keys: \(error.description.escapedForTerminal)")
        }
    }

    /// With a service that was dialled.
    /// - Parameters:
    ///   - service: as it was found.
    ///   - limit: the longest that a handshake takes.
    /// - Throws: as `begin`.
    func begin(
        _ socket: Socket, with instance: ServiceInstance, _ service: DiscoveredService?, within limit: Duration?
    ) async throws(CommandError) -> Conversation {
        if guardsPlain { try await check(instance, service?.txt) }
        if let wish, let tls {
            let known = KnownFile.knownPeers.content(tls.hmac)
            warn(service.flatMap { KeyHint($0.txt) }?.warning(of: .service(instance), known, wish.trust))
        }
        return try await begin(socket, .calling(.service(instance)), within: limit)
    }

    /// - Throws: status 77 where nothing is to be said without TLS.
    private func check(_ instance: ServiceInstance, _ record: TXTRecord?) async throws(CommandError) {
        switch await speech(to: instance, announcing: record) {
        case .usual: warn(nil)
        case .doubtful(let text): warn(text)
        case .refused(let text):
            throw CommandError(
                .notPermitted, text,
                advice: [
                    "--tls speaks TLS with it; --plain sends all the same, to whoever has its name now, for all to read."
                ])
        }
    }

    /// Judges a service that was dialled. With known keys that cannot be read, any that announces TLS may be known.
    /// - Parameter record: its TXT record, as far as it has come: dialling does not wait for it.
    private func speech(to instance: ServiceInstance, announcing record: TXTRecord?) async -> PlainSpeech {
        guard let file = KnownFile.knownPeers.place(tls?.hmac) else { return .usual }
        let known: KnownPeers
        do throws(KnownPeersFile.Failure) {
            known = try file.read()
        } catch {
            let record = if let record { record } else { await text(of: instance) }
            guard record?.text(for: "tls") == "1" else { return .usual }
            let (name, reason) = (PeerName.service(instance).text, error.description.escapedForTerminal)
            return .refused("\(name) announces TLS, and whether its key is known cannot be said: \(reason)")
        }
        guard known.count > 0 else { return .usual }
        let speech = known.plainSpeech(to: instance, announcing: record)
        guard case .doubtful = speech, let record = await text(of: instance) else { return speech }
        return known.plainSpeech(to: instance, announcing: record)
    }

    private func text(of instance: ServiceInstance) async -> TXTRecord? {
        try? await network.resolve(instance, within: .seconds(2)).txt
    }

    private func warn(_ text: String?) {
        let isNew = doubt.withLock { last in
            defer { last = text }
            return last != text
        }
        if isNew, let text { notices.notice(text) }
    }

    /// - Throws: where the other machine is not let in, or does not speak TLS.
    func begin(
        _ socket: Socket, _ role: TLSRole, within limit: Duration? = nil
    ) async throws(CommandError) -> Conversation {
        guard var wish else { return Conversation(socket, nil) }
        guard let tls else { throw CommandError.noTLS }
        wish.limit = limit
        let link = try await tls.secure(socket.handOver(), as: role, wish, notices)
        return Conversation(Socket(owning: link.descriptor), link)
    }
}
#endif

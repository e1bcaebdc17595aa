#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoverySystem
internal import PeerIdentity

struct ListenCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Listens, publishes the port it got, and runs a program for each connection.",
        discussion: """
            Each connection gets a CMD of its own, as its standard input and output, as inetd does. Without CMD the first
            connection is joined to standard input and output, and the service is withdrawn.

            Examples:
              discoverd listen files -- cat                     an echo, at a free port
              discoverd listen inbox > file                     receives one file: discoverd connect inbox < file
              discoverd listen web 8080 --type _http._tcp -- ./handle-one-request
            """
    )

    @Argument(help: "The name: 1 to 63 bytes. One that begins with a hyphen follows --.", transform: Parsing.name)
    var name: ServiceName

    @Argument(help: ArgumentHelp("The port to listen on; 0, the default, takes a free one.", valueName: "port"))
    var portWord: String?

    private func port() throws -> Port? {
        guard let portWord else { return nil }
        if Int(portWord) == nil, Int(name.text) != nil {
            throw ValidationError(
                "NAME stands before PORT: 'discoverd listen \(portWord.escapedForTerminal) \(name)'.")
        }
        return try Parsing.optionalPort(portWord)
    }

    @Argument(parsing: .postTerminator, help: ArgumentHelp("A program to run for each connection.", valueName: "cmd"))
    var program: [String] = []

    @OptionGroup var offer: OfferOptions
    @OptionGroup var txt: TXTOptions

    @Option(
        name: .long, help: ArgumentHelp("Connections at a time; further ones wait. Default: 64.", valueName: "n"),
        transform: Parsing.connections)
    var max: Int = 64

    @OptionGroup var security: TLSOptions
    @OptionGroup var domain: DomainOption
    @OptionGroup var place: NetworkOptions
    @OptionGroup var key: KeyOption
    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

    /// There is time for open connections to end, then for goodbyes.
    func needs() -> CommandNeeds {
        CommandNeeds(
            domains: key.added(to: domain.wish), publishes: true, more: security.tls ? CommandNeeds.tls : nil,
            ending: .init(isWhenUnread: false, grace: Serving.patience + .seconds(4)),
            isConnection: (try? DiscoverdCommand.arguments().program.isEmpty) ?? true)
    }

    func validate() throws {
        if offer.type == nil, !(try DiscoverdCommand.arguments().hasMarked) {
            try WordKind.requireNewName(name.text, for: "listen")
        }
        try offer.type?.requireConnections(for: "listen")
        try Parsing.validate {
            _ = try port()
            _ = try txt.record()
        }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let program = try DiscoverdCommand.arguments().program
        if let name = program.first { try ChildProcess.checkExistence(of: name) }
        let conversations = Conversations(try security.wish(), in: session)
        try conversations.checkKnownKeys()
        let listeners = try ListeningSockets.everywhere(
            port: try port(), family: place.family, interfaces: try place.interfaces())
        // Anyone can cause these.
        let notices = PacedNotices(session.notices)
        let acceptor = try acceptor(listeners, serving: program.isEmpty ? 1 : max, notices)
        var service = try offer.service(name, port: listeners.port, txt: txt, in: domain.domain, at: place)
        if security.tls, let identity = try session.more?.identity() {
            // A hint for people and programs; the handshake decides.
            try service.txt.append(key: "tls", value: Array("1".utf8))
            try service.txt.append(key: "fp", value: Array(identity.fingerprint.description.utf8))
        }
        offer.tellDoubts(of: service, in: session)
        if portWord == nil, Int(name.text) != nil {
            session.notices.notice("\(name) is the service's name; a port follows it: 'discoverd listen NAME \(name)'")
        }
        let publication = session.network.publish(service)
        var run = Publishing(session: session, program: [], timeout: nil, isChecked: false)
        // Without a program, standard output carries the connection's bytes.
        run.tellsOnStandardError = program.isEmpty
        async let serving: Void = serve(acceptor, publication, program, conversations, notices)
        do {
            let status = try await run.run([publication])
            try await serving
            return status
        } catch {
            acceptor.end()
            throw error
        }
    }

    private func serve(
        _ acceptor: Acceptor, _ publication: Publication, _ program: [[UInt8]],
        _ conversations: Conversations, _ notices: PacedNotices
    ) async throws {
        do {
            if program.isEmpty { return try await serveOne(acceptor, publication, conversations, notices) }
            let (room, free) = (NewcomerRoom(), Awaited(max))
            try await Serving.run(acceptor) { socket in
                let admitted = await room.run(socket) { _ in await answer(socket, conversations, notices) }
                guard let conversation = admitted else { return }
                // An admitted caller waits for a place of one that is served.
                guard await free.wait(for: { $0 > 0 ? ($0 -= 1) : nil }) != nil else {
                    return conversation.socket.close()
                }
                defer { free.change { $0 += 1 } }
                do throws(CommandError) {
                    try await ChildProcess.serve(conversation.socket, with: program)
                } catch {
                    // The others go on, and the next one may find the program, or memory for it, again.
                    notices.notice("a connection was refused: \(error.message)")
                    conversation.socket.reset()
                }
                if let failure = await conversation.failure { notices.notice(failure.message) }
            }
        } catch {
            // Also ends the publication.
            await publication.withdraw()
            throw error
        }
    }

    /// Nil, after a notice, if the caller is not let in: others may be.
    private func answer(
        _ socket: Socket, _ conversations: Conversations, _ notices: PacedNotices
    ) async -> Conversation? {
        do throws(CommandError) {
            return try await conversations.begin(socket, .answering)
        } catch {
            // Another was first, or this one had to give way.
            if !Task.isCancelled { notices.notice("a connection was refused: \(error.message)") }
            return nil
        }
    }

    /// With TLS, a caller that has not proven its key takes no place of one that is served.
    private func acceptor(
        _ listeners: ListeningSockets, serving served: Int, _ notices: PacedNotices
    ) throws -> Acceptor {
        guard security.tls else { return try Acceptor(listeners, limit: served) }
        return try Acceptor(
            listeners, limit: served + NewcomerRoom.places,
            entry: .hello {
                notices.notice("a connection was refused: the other side did not finish the handshake in time")
            })
    }

    /// Takes the first that is let in.
    private func serveOne(
        _ acceptor: Acceptor, _ publication: Publication, _ conversations: Conversations, _ notices: PacedNotices
    ) async throws {
        let room = NewcomerRoom()
        let admitted = try await acceptor.first { socket in
            await room.run(socket) { _ in await answer(socket, conversations, notices) }
        }
        guard let admitted else { return }
        await publication.withdraw()
        try await admitted.joinStandard()
    }
}
#endif

#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc
internal import PeerIdentity

struct PairCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Makes two machines known to each other, by a code that their people compare.",
        discussion: """
            One waits, the other names it. Both show a code and ask. When both people say yes, each machine knows the
            other's key. Then 'listen', 'connect' and 'forward' with --tls work between them, in both directions. One code is one attempt.

            Examples:
              discoverd key pair            on h1: waits, and prints its name
              discoverd key pair h1         on the other machine
            Without a terminal: 'discoverd key show' there, and 'discoverd key add' here.
            """
    )

    @Argument(
        help: "The machine that waits, by the name that it prints; without a name, this one waits.",
        transform: Parsing.soughtName)
    var name: ServiceName?

    @Option(
        name: .long, help: ArgumentHelp("Give up after this time; default: 300.", valueName: "seconds"),
        transform: Parsing.seconds)
    var timeout: Duration = .seconds(300)

    @OptionGroup var policy: PolicyOptions
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

    /// What a waiting machine publishes.
    private static let type = "_discoverd-pair._tcp"

    func needs() throws -> CommandNeeds {
        CommandNeeds(
            interfaces: try place.interfaces(), publishes: name == nil, more: CommandNeeds.tls,
            ending: .publishing(status: .notFound))
    }

    func validate() throws {
        guard let name, WordKind(name.text) != .name else { return }
        let label = String(name.text.prefix { $0 != "." })
        let meant = WordKind(name.text) == .host ? ", as 'discoverd key pair \(label.escapedForTerminal)'" : ""
        throw ValidationError(
            "\(name.text.quotedForMessage) is not the name of a machine that waits: key pair takes what 'discoverd key pair' prints "
                + "there\(meant).")
    }

    func execute(in session: Session) async throws -> ExitStatus {
        guard let tls = session.more else { throw CommandError.noTLS }
        guard TerminalQuestion.isPossible else {
            throw CommandError(
                .usage, "key pair asks a person, and there is no terminal with this command in its foreground",
                advice: ["Without one: 'discoverd key show' there, and 'discoverd key add NAME KEY' here."])
        }
        session.stop.request(
            .failed(CommandError(.notFound, "not paired within \(timeout.inSeconds) s; nothing was stored")),
            after: timeout)
        let report = PairingReport(session)
        if let name {
            try await dial(name, PairingTalk(tls: tls, role: .caller, report: report), in: session)
        } else {
            try await wait(PairingTalk(tls: tls, role: .answerer, report: report), in: session)
        }
        try report.check()
        return .done
    }

    private func dial(_ name: ServiceName, _ talk: PairingTalk, in session: Session) async throws {
        let instance = ServiceInstance(name: name, type: try ServiceType(Self.type))
        session.notices.notice("looking for \"\(name)\", where 'discoverd key pair' waits")
        let connector = Connector(
            network: session.network, dialer: SocketDialer(), policy: policy.policy(naming: .local, and: []),
            limits: RaceLimits(overall: timeout), patience: timeout)
        let establishment = await connector.establish(
            .instance(instance), on: try place.interfaces(), over: place.family)
        switch establishment.result {
        case .success(let socket):
            switch await talk.run(socket) {
            case .paired: return
            case .refused(let error), .failed(let error): throw error
            }
        case .failure(let error):
            var failure = CommandError(error)
            if error.code == .notFound { failure.advice = [instance.domain.listingAdvice(instance.type)] }
            throw failure
        }
    }

    private func wait(_ talk: PairingTalk, in session: Session) async throws {
        let listeners = try ListeningSockets.everywhere(
            port: nil, family: place.family, interfaces: try place.interfaces())
        let desk = PairingDesk(
            try Acceptor(listeners, limit: NewcomerRoom.places, entry: .hello {}), talk, session.notices)
        let service = OfferedService(
            name: .ofThisMachine(), type: try ServiceType(Self.type), port: listeners.port,
            interfaces: try place.interfaces(), family: place.family)
        let publication = session.network.publish(service)
        var run = Publishing(session: session, program: [], timeout: nil, isChecked: false)
        let report = talk.report
        run.announce = { report.waiting(as: $0.name) }
        async let pairing: Void = desk.run(until: publication)
        do {
            _ = try await run.run([publication])
            try await pairing
        } catch {
            desk.end()
            throw error
        }
    }
}

/// Prints what becomes of pairing to standard output, for people or as JSON lines. For use by several tasks.
struct PairingReport: Sendable {
    let notices: ProgramNotices
    private let json: JSONVersion?
    private let isUTF8: Bool
    private let failure = Locked<Int32?>(nil)

    init(_ session: Session) {
        notices = session.notices
        json = session.jsonVersion
        isUTF8 = session.terminal.isUTF8
    }

    /// Reports that this machine waits.
    func waiting(as name: ServiceName) {
        let words = "discoverd key pair \(name.text.quotedForShell.escapedForTerminal)"
        write("waiting; on the other machine: \(words)", "waiting") { $0.member("name", name.text) }
    }

    /// Reports the code; people see it on the terminal.
    func comparing(_ code: PairingCode, _ peer: PairingPeer) {
        write(nil, "comparing") {
            $0.member("code", code.description)
            $0.member("label", peer.label)
            $0.member("fingerprint", peer.key.description)
        }
    }

    /// Reports that the key was stored.
    func paired(_ peer: PairingPeer) {
        let names = peer.names.map(\.description)
        write("paired: \(names.joined(separator: ", ")) \(peer.key)", "paired") { object in
            object.member("label", peer.label)
            object.member("fingerprint", peer.key.description)
            object.member("names", names)
        }
        if peer.names.count == 1 {
            notices.notice("its label is no host's name: what it serves is asked about when it is dialled")
        }
    }

    /// - Throws: where standard output could not be written.
    func check() throws(CommandError) {
        guard let code = failure.withLock({ $0 }), code != EPIPE else { return }
        throw CommandError(.ioError, "cannot write to standard output", errno: code)
    }

    private func write(_ text: String?, _ state: String, _ members: (inout JSONWriter) -> Void) {
        var bytes: [UInt8] = []
        if let json {
            bytes = json.line { writer in
                writer.line("pairing") { object in
                    object.member("state", state)
                    members(&object)
                }
            }
        } else if let text {
            bytes = Array((text.tamed(isUTF8: isUTF8) + "\n").utf8)
        }
        if let code = Descriptor.write(bytes, to: STDOUT_FILENO) { failure.withLock { $0 = $0 ?? code } }
    }
}

extension String {
    /// The text as one word of a POSIX shell's command line.
    fileprivate var quotedForShell: String {
        let isPlain =
            utf8.first != UInt8(ascii: "-") && utf8.allSatisfy { $0.isASCIIAlphanumeric || "._-".utf8.contains($0) }
        return isPlain ? self : quotedForPOSIXShell
    }
}
#endif

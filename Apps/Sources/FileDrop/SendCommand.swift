import AppSupport
import AppTLS
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import DiscoveryNIO
import FileDropCore

struct SendCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Sends files and folders to a machine that receives.",
        discussion: """
            Without --to the only one, or the one that you choose, with TLS, to a machine whose key is known. About
            another key you are asked: compare the code with the one that is shown there. What broke off goes on where it
            stopped, and what is there already is not sent again. What has a name that begins with a dot is left out: send
            an archive. With --plain one file at a time, for everyone to read, as to nc -l.
            """
    )

    static var statusWhenStopped: ExitStatus { .notFound }

    @Argument(help: "Files and folders.")
    var file: [String]

    @Option(name: .long, help: "The receiver's name.", transform: Parsing.soughtName)
    var to: ServiceName?

    @Option(name: .long, help: "With --plain: a host instead of a name; with --port.")
    var host: String?

    @Option(name: .long, help: "The host's port.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "A plain stream, which everyone on the network can read and change.")
    var plain = false

    @OptionGroup var peers: PeerOptions
    @OptionGroup var finding: FindingOptions
    @OptionGroup var options: AppOptions

    func validate() throws {
        if file.isEmpty { throw ValidationError("name at least one file.") }
        if to != nil && host != nil { throw ValidationError("--to and --host exclude each other.") }
        if host != nil, !plain { throw ValidationError("--host is for plain streams: it goes with --plain.") }
        try peers.validate(plain: plain)
        if (host == nil) != (port == nil) { throw ValidationError("--host and --port go together.") }
    }

    func run(in app: App) async throws {
        let tree = try await SourceTree.look(at: file, OriginKey.ofUser(app), app)
        let progress = Progress(app)
        if let host, let port {
            let item = try onlyFile(tree)
            let stream = try await ByteStream.connect(host: host, port: Int(port.rawValue))
            return try await PlainTransfer(progress: progress).send(item, to: stream)
        }
        let acquaintances = plain ? nil : try Acquaintances(.dialling, peers, app.notices)
        let service = try await app.find(DropService.upload, named: to, within: finding.timeout)
        if let acquaintances {
            return try await app.resumable {
                let connection = try await app.connect(to: service, acquaintances.tls)
                let sender = FramedSender(
                    tree: tree, acquaintances: acquaintances, progress: progress, log: EventLog(app))
                try await sender.run(connection)
            }
        }
        let item = try onlyFile(tree)
        try DropService.checkPlain(service)
        let (stream, _) = try await app.network().connect(to: .service(service), on: options.interfaces) {
            ByteStream.wrap($0)
        }
        try await PlainTransfer(progress: progress).send(item, to: stream)
    }

    private func onlyFile(_ tree: SourceTree) throws -> SourceTree.Item {
        if let item = tree.onlyFile { return item }
        throw CommandError(.usage, "the receiver takes one plain file: send an archive, or one file at a time")
    }
}

/// How long to look for the other side.
struct FindingOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("How long to look for the other side; default: 5.", valueName: "seconds"),
        transform: Parsing.seconds
    )
    var timeout: Duration = .seconds(5)
}

import AppSupport
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
            Without --to the only one, or the one that you choose. What broke off goes on where it stopped, and what is
            there already is not sent again. What has a name that begins with a dot is left out: send an archive. To a
            receiver of plain streams, as nc -l, one file at a time.
            """
    )

    static var statusWhenStopped: ExitStatus { .notFound }

    @Argument(help: "Files and folders.")
    var file: [String]

    @Option(name: .long, help: "The receiver's name.", transform: Parsing.soughtName)
    var to: ServiceName?

    @Option(name: .long, help: "A host instead of a name, for a plain stream; with --port.")
    var host: String?

    @Option(name: .long, help: "The host's port.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "A plain stream even if the receiver knows more.")
    var plain = false

    @OptionGroup var finding: FindingOptions
    @OptionGroup var options: AppOptions

    func validate() throws {
        if file.isEmpty { throw ValidationError("name at least one file.") }
        if to != nil && host != nil { throw ValidationError("--to and --host exclude each other.") }
        if (host == nil) != (port == nil) { throw ValidationError("--host and --port go together.") }
    }

    func run(in app: App) async throws {
        let key = SenderKey.ofUser(app)
        let tree = try await SourceTree.look(at: file, key, app)
        let progress = Progress(app)
        if let host, let port {
            let item = try onlyFile(tree)
            let stream = try await ByteStream.connect(host: host, port: Int(port.rawValue))
            return try await PlainTransfer(progress: progress).send(item, to: stream)
        }
        let service = try await app.find(DropService.upload, named: to, within: finding.timeout)
        if !plain, let framed = try DropService.framed(service) {
            return try await app.resumable {
                let (connection, _) = try await app.network().connect(
                    to: .service(framed), on: options.interfaces, initializer: DropConnection.make)
                let sender = FramedSender(
                    tree: tree, key: key, progress: progress, log: EventLog(app), isReceiverDialled: true)
                try await sender.run(connection)
            }
        }
        let item = try onlyFile(tree)
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

import AppSupport
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import FileDropCore

struct OfferCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "offer",
        abstract: "Lets others fetch files and folders, until Ctrl-C.",
        discussion: """
            Published as NAME._x-SNSDownload._tcp. `filedrop fetch` takes them with their names, checked and gone on with
            where they broke off; nc and the like get the bytes of the file, if it is only one.
            """
    )

    @Argument(help: "Files and folders.")
    var file: [String]

    @Option(
        name: .long, help: "The name; default: this machine's, or with --plain Test.",
        transform: { try ServiceName($0) })
    var name: ServiceName?

    @Option(name: .long, help: "The port for plain streams; default: a free one.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "Plain streams only, for programs that look for the name Test.")
    var plain = false

    @Flag(name: .long, help: "End after one other has fetched everything.")
    var once = false

    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let log = EventLog(app)
        let key = SenderKey.ofUser(app)
        let tree = try await SourceTree.look(at: file, key, app)
        var listener = DropListener(
            app: app, log: log, name: try name ?? (plain ? ServiceName(DropService.plainName) : .ofThisMachine()),
            type: DropService.download, port: port, isPlain: plain)
        listener.about = [("files", String(tree.items.count)), ("bytes", String(tree.bytes))]
        if let only = tree.onlyFile { listener.about.append(("name", only.entry.path.text)) }
        try await listener.run(once: once) { connection in
            guard let item = tree.onlyFile else {
                await connection.refuse()
                throw CommandError(.usage, "asked for a plain stream, which is one file: there are several")
            }
            try await PlainTransfer(progress: Progress(app)).send(item, to: connection.stream)
            return true
        } framed: { connection in
            let sender = FramedSender(
                tree: tree, key: key, progress: Progress(app), log: log, isReceiverDialled: false)
            try await sender.run(connection)
            return true
        }
    }
}

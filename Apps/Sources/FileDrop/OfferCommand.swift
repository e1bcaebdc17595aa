import AppSupport
import AppTLS
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
            Published as NAME._x-SNSDownload._tcp. `filedrop fetch` takes them with their names, with TLS, checked and
            gone on with where they broke off. At a terminal you are asked about others whose keys are not known; without
            a terminal they are refused. With --plain everyone gets the bytes of a single file, as with nc.
            """
    )

    @Argument(help: "Files and folders.")
    var file: [String]

    @Option(
        name: .long, help: "The name; default: this machine's, or with --plain Test.",
        transform: { try ServiceName($0) })
    var name: ServiceName?

    @Option(name: .long, help: "The published port; default: a free one.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "Plain streams only, to anyone, for programs that look for the name Test.")
    var plain = false

    @OptionGroup var peers: PeerOptions

    @Flag(name: .long, help: "End after one other has fetched everything.")
    var once = false

    @OptionGroup var options: AppOptions

    func validate() throws { try peers.validate(plain: plain) }

    func run(in app: App) async throws {
        let log = EventLog(app)
        let tree = try await SourceTree.look(at: file, OriginKey.ofUser(app), app)
        let acquaintances = plain ? nil : try Acquaintances(Acquaintances.fetchers, peers, app.notices)
        var listener = DropListener(
            app: app, log: log, name: try name ?? (plain ? ServiceName(DropService.plainName) : .ofThisMachine()),
            type: DropService.download, port: port, acquaintances: acquaintances)
        listener.about = [("files", String(tree.items.count)), ("bytes", String(tree.bytes))]
        try await listener.run(once: once) { connection in
            guard plain else { return try await PlainTransfer.refuse(connection, tells: false) }
            guard let item = tree.onlyFile else {
                await connection.refuse()
                throw CommandError(.usage, "asked for a plain stream, which is one file: there are several")
            }
            try await PlainTransfer(progress: Progress(app)).send(item, to: connection.stream)
            return true
        } framed: { connection in
            guard let acquaintances else { return false }
            let sender = FramedSender(
                tree: tree, acquaintances: acquaintances, progress: Progress(app), log: log)
            try await sender.run(connection)
            return true
        }
    }
}

import AppSupport
import ArgumentParser
import DNSSD
import FileDropCore
import NIOCore

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
        name: .long, help: "The name; default: Test. A name that is taken is an error.",
        transform: { try ServiceName($0) })
    var name: ServiceName?

    @Option(name: .long, help: "The port for plain streams; default: a free one.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "End after one other has fetched everything.")
    var once = false

    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let tree = try await blocking { [file] in try SourceTree(file) }
        for text in tree.leftOut { app.notices.notice(text) }
        var listener = DropListener(
            app: app, name: try name ?? ServiceName(DropService.name), type: DropService.download, port: port)
        listener.about = [("files", String(tree.items.count)), ("bytes", String(tree.bytes))]
        if let only = tree.onlyFile { listener.about.append(("name", only.entry.path.text)) }
        try await listener.run(once: once) { stream in
            guard let item = tree.onlyFile else {
                try? await stream.channel.close()
                throw AppError(.usage, "asked for a plain stream, which is one file: there are several")
            }
            try await PlainTransfer(progress: Progress(app)).send(item, to: stream)
            return true
        } framed: { stream in
            try await FramedSender(tree: tree, progress: Progress(app)).run(stream)
            return true
        }
    }
}

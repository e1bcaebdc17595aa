import AppSupport
import ArgumentParser
import DNSSD
import FileDropCore

struct ReceiveCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Takes files that others send, into a folder, until Ctrl-C.",
        discussion: """
            Published as NAME._x-SNSUpload._tcp. From `filedrop send` come files and folders with their names, checked
            and gone on with where they broke off; from nc and the like the bytes of one file, named after the time. A
            file appears under its name when it is complete, never over another one, and never outside the folder.
            What nobody goes on with for 7 days is removed at the next start.
            """
    )

    @Argument(help: "The folder; it is made if there is none.")
    var directory: String

    @Option(
        name: .long, help: "The name; default: Test. A name that is taken is an error.",
        transform: { try ServiceName($0) })
    var name: ServiceName?

    @Option(name: .long, help: "The port for plain streams; default: a free one.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "End after one sender has sent everything.")
    var once = false

    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let target = try TargetFolder(directory)
        let leftovers = Leftovers(removingIn: target)
        if leftovers.removed > 0 {
            app.notices.notice("removed \(leftovers.removed) unfinished files that are older than 7 days")
        }
        let name = try name ?? ServiceName(DropService.name)
        let listener = DropListener(app: app, name: name, type: DropService.upload, port: port)
        try await listener.run(once: once) { stream in
            let transfer = PlainTransfer(progress: Progress(app))
            return try await transfer.receive(stream, as: PlainTransfer.name(after: name), in: target) != nil
        } framed: { stream in
            _ = try await FramedReceiver(target: target, progress: Progress(app)).run(stream)
            return true
        }
    }
}

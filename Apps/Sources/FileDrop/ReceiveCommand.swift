import AppSupport
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import FileDropCore

struct ReceiveCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Takes files that others send, into a folder, until Ctrl-C.",
        discussion: """
            Published as NAME._x-SNSUpload._tcp. From `filedrop send` come files and folders with their names, checked
            and gone on with where they broke off; from nc and the like the bytes of one file, named after the time. A
            file appears under its name when it is complete, never over another one, never outside the folder, and never
            in a folder that this sender's transfers did not make. What has a name that begins with a dot is left out.
            What is not gone on with for 7 days is removed.
            """
    )

    @Argument(help: "The folder; it is made if there is none.")
    var directory: String

    @Option(
        name: .long, help: "The name; default: this machine's, or with --plain Test.",
        transform: { try ServiceName($0) })
    var name: ServiceName?

    @Option(name: .long, help: "The port for plain streams; default: a free one.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "Plain streams only, for programs that look for the name Test.")
    var plain = false

    @Flag(name: .long, help: "Let files that are programs at the sender be programs here.")
    var executable = false

    @Flag(name: .long, help: "End after one sender has sent everything.")
    var once = false

    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let log = EventLog(app)
        let inbox = try Inbox(directory, takesPrograms: executable, app)
        let name = try name ?? (plain ? ServiceName(DropService.plainName) : .ofThisMachine())
        let listener = DropListener(
            app: app, log: log, name: name, type: DropService.upload, port: port, isPlain: plain)
        try await listener.run(once: once) { connection in
            let transfer = PlainTransfer(progress: Progress(app))
            return try await transfer.receive(connection.stream, as: PlainTransfer.name(after: name), in: inbox) != nil
        } framed: { connection in
            try await FramedReceiver(inbox: inbox, progress: Progress(app), log: log, isDialled: true).run(connection)
            return true
        }
    }
}

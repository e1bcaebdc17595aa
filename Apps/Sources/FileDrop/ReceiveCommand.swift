import AppSupport
import AppTLS
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
            Published as NAME._x-SNSUpload._tcp. From `filedrop send` come files and folders with their names, with TLS,
            checked and gone on with where they broke off. At a terminal you are asked about senders whose keys are not
            known: yes takes what they have this once, always notes the key for the next time. Compare the code with the
            one that is shown there. Without a terminal they are refused. With --plain come plain streams from everyone,
            as from nc: the bytes of one file, named after the time. A file appears under its name when it is complete, never over another one, never outside the folder, and never
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

    @Option(name: .long, help: "The published port; default: a free one.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "Plain streams only, from anyone, for programs that look for the name Test.")
    var plain = false

    @OptionGroup var peers: PeerOptions

    @Flag(name: .long, help: "Let files that are programs at the sender be programs here.")
    var executable = false

    @Flag(name: .long, help: "End after one sender has sent everything.")
    var once = false

    @OptionGroup var options: AppOptions

    func validate() throws { try peers.validate(plain: plain) }

    func run(in app: App) async throws {
        let log = EventLog(app)
        let acquaintances = plain ? nil : try Acquaintances(Acquaintances.senders, peers, app.notices)
        let inbox = try Inbox(directory, takesPrograms: executable, app)
        let name = try name ?? (plain ? ServiceName(DropService.plainName) : .ofThisMachine())
        let listener = DropListener(
            app: app, log: log, name: name, type: DropService.upload, port: port, acquaintances: acquaintances)
        try await listener.run(once: once) { connection in
            guard plain else { return try await PlainTransfer.refuse(connection, tells: true) }
            let transfer = PlainTransfer(progress: Progress(app))
            return try await transfer.receive(connection.stream, as: PlainTransfer.name(after: name), in: inbox) != nil
        } framed: { connection in
            guard let acquaintances else { return false }
            let receiver = FramedReceiver(
                inbox: inbox, acquaintances: acquaintances, progress: Progress(app), log: log)
            try await receiver.run(connection)
            return true
        }
    }
}

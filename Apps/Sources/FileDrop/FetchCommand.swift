import AppSupport
import AppTLS
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import DiscoveryNIO
import FileDropCore

struct FetchCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetches what another machine offers into a folder.",
        discussion: """
            With TLS, from a machine whose key is known; about another key you are asked. What broke off goes on where it
            stopped, what is there already is not fetched again, and no file is replaced. With --plain comes one file, which
            is named after the service and the time.
            """
    )

    static var statusWhenStopped: ExitStatus { .notFound }

    @Argument(
        help: ArgumentHelp(
            "The name under which it is offered, which may be left out; and the folder, which is made if there is none.",
            valueName: "name> <directory"))
    var place: [String]

    @Flag(name: .long, help: "A plain stream, which everyone on the network can read and change.")
    var plain = false

    @Flag(name: .long, help: "Let files that are programs there be programs here.")
    var executable = false

    @OptionGroup var peers: PeerOptions
    @OptionGroup var finding: FindingOptions
    @OptionGroup var options: AppOptions

    func validate() throws {
        guard (1...2).contains(place.count) else {
            throw ValidationError("name the folder, and before it whose files to fetch if there are several.")
        }
        try peers.validate(plain: plain)
        _ = try name
    }

    private var name: ServiceName? {
        get throws { place.count == 2 ? try Parsing.soughtName(place[0]) : nil }
    }

    func run(in app: App) async throws {
        let inbox = try Inbox(place[place.count - 1], takesPrograms: executable, app)
        let progress = Progress(app)
        let acquaintances = plain ? nil : try Acquaintances(.dialling, peers, app.notices)
        let service = try await app.find(DropService.download, named: try name, within: finding.timeout)
        if let acquaintances {
            return try await app.resumable {
                let connection = try await app.connect(to: service, acquaintances.tls)
                let receiver = FramedReceiver(
                    inbox: inbox, acquaintances: acquaintances, progress: progress, log: EventLog(app))
                try await receiver.run(connection)
            }
        }
        try DropService.checkPlain(service)
        let (stream, _) = try await app.network().connect(to: .service(service), on: options.interfaces) {
            ByteStream.wrap($0)
        }
        let path = PlainTransfer.name(after: service.instance.name)
        guard try await PlainTransfer(progress: progress).receive(stream, as: path, in: inbox) != nil else {
            throw CommandError(.notFound, "\(service.instance.name) sent nothing")
        }
    }
}

import AppSupport
import ArgumentParser
import DNSSD
import Discovery
import DiscoveryNIO
import FileDropCore

struct FetchCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetches what another machine offers into a folder.",
        discussion: """
            What broke off goes on where it stopped, what is there already is not fetched again, and no file is replaced.
            From others than `filedrop offer` comes one file, which is named after the service and the time.
            """
    )

    static var statusWhenStopped: AppStatus { .notDone }

    @Argument(help: "The name under which it is offered.", transform: Parsing.soughtName)
    var name: ServiceName

    @Argument(help: "The folder; it is made if there is none.")
    var directory: String

    @Flag(name: .long, help: "A plain stream even if the other side knows more.")
    var plain = false

    @OptionGroup var finding: FindingOptions
    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let target = try TargetFolder(directory)
        let progress = Progress(app)
        let service = try await app.find(DropService.download, named: name, within: finding.timeout)
        if !plain, let framed = DropService.framed(service) {
            let (stream, _) = try await app.network().connect(to: .service(framed)) { ByteStream.wrap($0) }
            _ = try await FramedReceiver(target: target, progress: progress).run(stream)
            return
        }
        let (stream, _) = try await app.network().connect(to: .service(service)) { ByteStream.wrap($0) }
        let path = PlainTransfer.name(after: name)
        guard try await PlainTransfer(progress: progress).receive(stream, as: path, in: target) != nil else {
            throw AppError(.notDone, "\(name) sent nothing")
        }
    }
}

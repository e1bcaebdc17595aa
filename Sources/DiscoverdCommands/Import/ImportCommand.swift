#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD

struct ImportCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Prints files of /etc/avahi/services as the daemon's configuration.",
        discussion: """
            All of them, or with what is wrong in one of them none. Remove the files afterwards: avahi-daemon publishes them still, and the \
            daemon's services would get other names.

            Examples:
              discoverd import /etc/avahi/services/*.service >/etc/discoverd/services.d/avahi.yaml
            """
    )

    @Argument(help: "The files, as avahi.service(5) describes them.")
    var file: [String]

    static var onlyPrints: Bool { true }

    func run(with more: (any MoreSupport)?) throws {
        let notices = ProgramNotices()
        var text = "services:\n"
        var failure: CommandError?
        for file in file {
            let shown = file.escapedForTerminal
            do throws(CommandError) {
                text += "# \(shown)\n" + Self.services(of: try AvahiServiceFile.group(file))
            } catch {
                if let failure { notices.failure(failure) }
                failure = CommandError(error.status, "\(shown)\(error.message)", advice: error.advice)
            }
        }
        if let failure { throw failure }
        print(text, terminator: "")
        let inUse = file.count { $0.hasPrefix("\(AvahiServiceFiles.directory)/") }
        if inUse > 0 {
            notices.notice(
                "avahi-daemon publishes these, too, until they are removed from \(AvahiServiceFiles.directory)")
        }
    }
}
#endif

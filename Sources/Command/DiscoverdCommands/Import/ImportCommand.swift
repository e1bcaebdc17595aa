#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoveryJSON

/// Begins with discoverd where something else was.
struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Writes configuration: from avahi-daemon's files, for a DNS server, from old keys.",
        subcommands: [ImportCommand.self, ZoneTemplateCommand.self, ConfigCommand.self])
}

struct ImportCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "avahi",
        abstract: "Prints files of /etc/avahi/services as the daemon's configuration.",
        discussion: """
            It prints all of them, or none if one is wrong. Remove the files afterwards: avahi-daemon would go on publishing them, and the \
            daemon's services would get other names.

            Examples:
              discoverd setup avahi /etc/avahi/services/*.service >/etc/discoverd/services.d/avahi.yaml
            """
    )

    @Argument(help: "The files, as avahi.service(5) describes them.")
    var file: [String]

    static var onlyPrints: Bool { true }

    func run(with more: (any MoreSupport)?) throws {
        let notices = ProgramNotices()
        let schema = LargeProgram.modeline("discoverd-services.schema.json")
        var text = (schema.map { $0 + "\n" } ?? "") + "services:\n"
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
        try Output.write(text.utf8)
        let inUse = file.count { $0.hasPrefix("\(AvahiServiceFiles.directory)/") }
        if inUse > 0 {
            notices.notice(
                "avahi-daemon publishes these, too, until they are removed from \(AvahiServiceFiles.directory)")
        }
    }
}

extension ImportCommand {
    /// The services as items of a list. Texts are quoted as in JSON, which YAML reads too.
    static func services(of group: AvahiServiceGroup) -> String {
        group.services.map { service(group.name, $0.offered) }.joined()
    }

    private static func service(_ name: String, _ service: OfferedService) -> String {
        var lines = ["- name: \(quoted(name))", "  type: \(service.type)", "  port: \(service.port)"]
        if service.domain != .local { lines.append("  domain: \(quoted(service.domain.text))") }
        if !service.subtypes.isEmpty {
            lines.append("  subtypes: [\(service.subtypes.map(quoted).joined(separator: ", "))]")
        }
        if let host = service.host { lines.append("  host: \(quoted(host.name.text))") }
        if let family = service.family { lines.append("  family: \(family.rawValue)") }
        if !service.txt.isEmpty { lines.append("  txt:") }
        for entry in service.txt.entries { lines.append("    \(quoted(entry.key)): \(value(entry))") }
        return lines.map { "  \($0)\n" }.joined()
    }

    /// Nothing stands for a key without a value.
    private static func value(_ entry: TXTRecord.Entry) -> String {
        guard let bytes = entry.value else { return "" }
        if let text = entry.text { return quoted(text) }
        return "{base64: \(quoted(Base64.encode(bytes)))}"
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
#endif

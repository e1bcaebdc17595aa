#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// A file of /etc/avahi/services, as avahi.service(5) has it, for the same services in the daemon's configuration. A value.
struct AvahiServiceGroup: Hashable, Sendable {
    /// A service; its name is the group's.
    struct Service: Hashable, Sendable {
        /// What is published; its name has no patterns filled in.
        var offered: OfferedService
        /// Where it is in the file.
        var line: Int
    }

    /// The name as the daemon's configuration has it: `%h` stands for the host's name, `%%` for a per cent sign.
    let name: String
    /// The services.
    let services: [Service]

    /// The name on a host.
    func name(on host: String) -> String {
        name.split(separator: "%%", omittingEmptySubsequences: false).map { $0.replacing("%h", with: host) }
            .joined(separator: "%")
    }

    /// Reads a document.
    init(_ document: XMLElement) throws(XMLElement.Fault) {
        guard document.name == "service-group" else {
            throw .init(line: document.line, reason: "no service-group, but \(document.name.quotedForMessage)")
        }
        try document.allow(["name", "service"])
        let name = try document.one("name")
        self.name = try Self.pattern(name)
        let plain = try Self.checked(name) { () throws(DiscoveryError) in try ServiceName(name.word) }
        let elements = document.children.filter { $0.name == "service" }
        guard !elements.isEmpty else { throw .init(line: document.line, reason: "there is no service") }
        var services: [Service] = []
        for element in elements { services.append(try Self.service(element, plain)) }
        self.services = services
    }

    /// Only `%h` is a pattern, and only where the file says so.
    private static func pattern(_ name: XMLElement) throws(XMLElement.Fault) -> String {
        let text = name.word
        switch name.attributes["replace-wildcards"] ?? "no" {
        case "no": return text.doubled
        // Doubled, the per cent sign of a pattern is one again.
        case "yes": return text.doubled.replacing("%%h", with: "%h")
        default: throw .init(line: name.line, reason: "replace-wildcards must be yes or no")
        }
    }

    private static func service(_ element: XMLElement, _ name: ServiceName) throws(XMLElement.Fault) -> Service {
        try element.allow(["type", "subtype", "domain-name", "host-name", "port", "txt-record"])
        let type = try element.one("type")
        let port = try element.one("port")
        guard let number = Int(port.word) else { throw .init(line: port.line, reason: "the port is no number") }
        var offered = OfferedService(
            name: name,
            type: try checked(type) { () throws(DiscoveryError) in try ServiceType(type.word).checkedForAvahi() },
            port: try checked(port) { () throws(DiscoveryError) in try Port(number) })
        for subtype in element.children where subtype.name == "subtype" {
            let full = try checked(subtype) { () throws(DiscoveryError) in try ServiceType(subtype.word) }
            guard full.base == offered.type, let label = full.subtype else {
                throw .init(
                    line: subtype.line, reason: "\(subtype.word.quotedForMessage) is no subtype of \(offered.type)")
            }
            offered.subtypes.append(label)
        }
        if let domain = try element.atMostOne("domain-name") {
            offered.domain = try checked(domain) { () throws(DiscoveryError) in try Domain(domain.word) }
        }
        if let host = try element.atMostOne("host-name") {
            offered.host = try checked(host) { () throws(DiscoveryError) in try OfferedHost(name: HostName(host.word)) }
        }
        switch element.attributes["protocol"] ?? "any" {
        case "any": break
        case "ipv4": offered.family = .ipv4
        case "ipv6": offered.family = .ipv6
        default: throw .init(line: element.line, reason: "protocol must be any, ipv4 or ipv6")
        }
        for record in element.children where record.name == "txt-record" { try add(record, to: &offered.txt) }
        return Service(offered: offered, line: element.line)
    }

    private static func add(_ record: XMLElement, to txt: inout TXTRecord) throws(XMLElement.Fault) {
        // Not trimmed: spaces count in a value.
        let text = record.text
        let sign = text.firstIndex(of: "=")
        let key = String(text[..<(sign ?? text.endIndex)])
        // The first of a key counts (RFC 6763 §6.4).
        guard !txt.contains(key) else { return }
        let value = try sign.map { sign throws(XMLElement.Fault) in
            try bytes(of: String(text[text.index(after: sign)...]), in: record)
        }
        try checked(record) { () throws(DiscoveryError) in try txt.append(key: key, value: value) }
    }

    private static func bytes(of value: String, in record: XMLElement) throws(XMLElement.Fault) -> [UInt8] {
        switch record.attributes["value-format"] ?? "text" {
        case "text": return Array(value.utf8)
        case "binary-hex": return try hexadecimal(Array(value.utf8), record)
        case "binary-base64":
            guard let bytes = Base64.decode(value) else {
                throw .init(line: record.line, reason: "the value is not base64")
            }
            return bytes
        default: throw .init(line: record.line, reason: "value-format must be text, binary-hex or binary-base64")
        }
    }

    private static func hexadecimal(_ text: [UInt8], _ record: XMLElement) throws(XMLElement.Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: 2) {
            let pair = String(decoding: text[start..<min(start + 2, text.count)], as: UTF8.self)
            guard pair.utf8.count == 2, let byte = UInt8(pair, radix: 16) else {
                throw .init(line: record.line, reason: "the value is not hexadecimal")
            }
            bytes.append(byte)
        }
        return bytes
    }

    private static func checked<Value>(
        _ element: XMLElement, _ body: () throws(DiscoveryError) -> Value
    ) throws(XMLElement.Fault) -> Value {
        do throws(DiscoveryError) {
            return try body()
        } catch {
            throw .init(line: element.line, reason: error.message)
        }
    }
}

extension XMLElement {
    /// Its text without the space around it.
    fileprivate var word: String { text.trimmed() }

    fileprivate func allow(_ names: Set<String>) throws(Fault) {
        for child in children where !names.contains(child.name) {
            throw Fault(line: child.line, reason: "\(child.name.quotedForMessage) has no place in \(name)")
        }
    }

    fileprivate func atMostOne(_ name: String) throws(Fault) -> XMLElement? {
        let all = children.filter { $0.name == name }
        if all.count > 1 { throw Fault(line: all[1].line, reason: "\(name) is there twice") }
        return all.first
    }

    fileprivate func one(_ name: String) throws(Fault) -> XMLElement {
        guard let element = try atMostOne(name) else { throw Fault(line: line, reason: "\(self.name) has no \(name)") }
        return element
    }
}

extension String {
    /// With each per cent sign twice.
    fileprivate var doubled: String { split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%") }
}

/// What avahi-daemon publishes by itself: the files in /etc/avahi/services, as avahi.service(5) describes them.
struct AvahiServiceFiles {
    /// A service of a file.
    struct Service: Hashable {
        /// Its name is the one on this host.
        var offered: OfferedService
        let path: String
        /// Which one of the file: it may have a type twice, as for each family.
        let position: Int
    }

    static let directory = "/etc/avahi/services"
    /// More files are not read.
    static let mostFiles = 256

    /// The services, in the files' order.
    private(set) var services: [Service] = []
    /// What is wrong with files, whose services are left out; safe for a terminal.
    private(set) var faults: [String] = []

    /// Reads the files; avahi-daemon may not be there.
    init(in directory: String = Self.directory, host: String = Environment.hostLabel ?? "localhost") {
        var names: [String] = []
        do throws(SystemError) {
            names = try SystemFile.names(in: directory, atMost: Self.mostFiles + 1) {
                // As glob(3), with which avahi-daemon finds them.
                $0.hasSuffix(".service") && !$0.hasPrefix(".")
            }
        } catch {
            if error.code != ENOENT { faults.append("\(directory): \(SystemError.text(error.code))") }
        }
        if names.count > Self.mostFiles { faults.append("\(directory): only \(Self.mostFiles) files are read") }
        for name in names.prefix(Self.mostFiles).sorted() {
            let path = "\(directory)/\(name)"
            do throws(CommandError) {
                // Not through a link, which may lead anywhere.
                let group = try AvahiServiceFile.group(path, followingLinks: false)
                services += group.services.enumerated().map { position, service in
                    var offered = service.offered
                    offered.name = ServiceName(observed: group.name(on: host))
                    return Service(offered: offered, path: path, position: position)
                }
            } catch {
                faults.append("\(path.escapedForTerminal)\(error.message)")
            }
        }
    }
}

/// One of these files.
enum AvahiServiceFile {
    /// Reads a file of at most 64 KiB.
    /// - Throws: what is wrong with it; the message follows the file's name.
    static func group(_ path: String, followingLinks: Bool = true) throws(CommandError) -> AvahiServiceGroup {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try SystemFile.read(path, atMost: XMLElement.largest, followingLinks: followingLinks)
        } catch {
            throw CommandError(.noInput, ": \(reason(error.code, followingLinks))")
        }
        do throws(XMLElement.Fault) {
            return try AvahiServiceGroup(XMLElement(document: bytes))
        } catch {
            throw CommandError(.badData, ":\(error.line): \(error.reason.escapedForTerminal)")
        }
    }

    private static func reason(_ code: Int32, _ isFollowing: Bool) -> String {
        switch code {
        case EINVAL, ENXIO: "not a regular file"
        case ELOOP where !isFollowing: "a link, which is not followed"
        default: SystemError.text(code)
        }
    }
}
#endif

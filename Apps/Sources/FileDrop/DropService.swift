import AppSupport
import CommandFrame
import CommandText
import DNSSD
import Discovery
import DiscoveryNIO
import FileDropCore
import PeerIdentity
import TerminalUI

/// The two services, and how their TXT records describe the framed mode.
///
/// With --plain the published port speaks plain streams, as SimpleNetworkStreams does, and that is all. Otherwise it only says that it does
/// not, and programs that know the framed mode find a second port, for TLS, in the TXT record: `filedrop=3`, `port=40123`, `tls=1`, `fp=SHA256:…`.
enum DropService {
    static let upload = "_x-SNSUpload._tcp"
    static let download = "_x-SNSDownload._tcp"
    /// The service name that SimpleNetworkStreams looks for.
    static let plainName = "Test"
    private static let version = "3"

    /// The TXT record of a service with a framed mode.
    static func txt(
        framedPort port: Port, _ key: KeyFingerprint, about: [(key: String, value: String)] = []
    ) throws -> TXTRecord {
        var record = TXTRecord()
        try record.append(key: "filedrop", text: version)
        try record.append(key: "port", text: port.description)
        try KeyHint(key).add(to: &record)
        for (key, value) in about { try record.append(key: key, text: String(value.prefix(60))) }
        return record
    }

    /// The service at its framed port.
    /// - Throws: if it has none, or is that of an older filedrop. No record makes this side speak without TLS.
    static func framed(_ service: DiscoveredService) throws -> DiscoveredService {
        let name = service.instance.name
        if let spoken = service.txt.text(for: "filedrop"), spoken != version {
            throw CommandError(
                .badData, "\"\(name)\" speaks another version of filedrop than this one, which is \(version)",
                advice: ["Install the same version on both sides."])
        }
        guard service.txt.contains("filedrop"), let text = service.txt.text(for: "port"), let number = Int(text),
            let port = try? Port(number)
        else {
            throw CommandError(
                .unreachable, "\"\(name)\" speaks no TLS, as far as it says",
                advice: ["--plain is for plain streams. Everyone on the network can read and change them."])
        }
        var framed = service
        framed.port = port
        framed.endpoints = service.endpoints.map { Endpoint(address: $0.address, port: port, interface: $0.interface) }
        return framed
    }

    /// - Throws: where a service says that it takes no plain streams.
    static func checkPlain(_ service: DiscoveredService) throws {
        guard service.txt.contains("tls") else { return }
        throw CommandError(
            .unreachable, "\"\(service.instance.name)\" speaks TLS, and takes no plain streams",
            advice: ["Leave out --plain, or use it on both sides."])
    }
}

extension App {
    /// The service of that name; without a name, the only one there is, or the one that a person chooses.
    /// - Throws: `.notFound` if none appears within `limit`, `.usage` if there are several and no one to ask.
    func find(_ type: String, named name: ServiceName?, within limit: Duration) async throws -> DiscoveredService {
        let type = try ServiceType(type)
        let interfaces = options.interfaces
        if let name {
            let instance = ServiceInstance(name: name, type: type)
            return try await network().resolve(instance, on: interfaces, within: limit)
        }
        let events = try network().browse(type, on: interfaces)
        let found = Found()
        do {
            try await Deadline.run(limit) { [self] in
                for try await event in events {
                    if case .backend(let state) = event { observe(state) }
                    if found.note(event) { return }
                }
            }
        } catch is Deadline.Missed {
            // What has been found by now is all there is.
        }
        let services = found.services
        if services.isEmpty, let reason = found.absence { throw DiscoveryError(.backendUnavailable, reason) }
        guard let first = services.first else {
            throw CommandError(.notFound, "nobody offers \(type) on this network (\(limit))")
        }
        if services.count == 1 { return first }
        let chosen = try await choose(
            from: try network().browse(type, on: interfaces), title: "filedrop: which one?", action: "take it",
            none: "No one is there.",
            text: { "\($0.instance.name)\($0.host.map { "  on \($0)" } ?? "")\($0.dropSize)" })
        guard let chosen else {
            let names = services.map(\.instance.name).sorted().map { "\"\($0)\"" }.joined(separator: ", ")
            throw CommandError(.usage, "there are several, and none was named: \(names)")
        }
        guard chosen.state != .resolved else { return chosen }
        return try await network().resolve(chosen.instance, on: interfaces, within: limit)
    }
}

extension DiscoveredService {
    /// The offered amount, from the TXT record.
    fileprivate var dropSize: String {
        guard let files = txt.text(for: "files").flatMap({ Int($0) }), files >= 0,
            let bytes = txt.text(for: "bytes").flatMap({ Int64($0) }), bytes >= 0
        else { return "" }
        return "  \(files) \(files == 1 ? "file" : "files"), \(ProgressLine.size(bytes))"
    }
}

import AppSupport
import DNSSD
import Discovery
import DiscoveryNIO

/// The two services, and what their TXT records say of the framed mode.
///
/// The port that is published takes and gives plain streams, as SimpleNetworkStreams does; who knows the framed mode finds a
/// second port in the TXT record: `filedrop=1`, `port=40123`.
enum DropService {
    static let upload = "_x-SNSUpload._tcp"
    static let download = "_x-SNSDownload._tcp"
    static let name = "Test"

    /// The record of a service that knows the framed mode.
    static func txt(framedPort port: Port, about: [(key: String, value: String)] = []) throws -> TXTRecord {
        var record = TXTRecord()
        try record.append(key: "filedrop", text: "1")
        try record.append(key: "port", text: port.description)
        for (key, value) in about { try record.append(key: key, text: String(value.prefix(60))) }
        return record
    }

    /// The service at the port of its framed mode; nil when it has none.
    static func framed(_ service: DiscoveredService) -> DiscoveredService? {
        guard service.txt.text(for: "filedrop") == "1", let text = service.txt.text(for: "port"),
            let number = Int(text), let port = try? Port(number)
        else { return nil }
        var framed = service
        framed.port = port
        framed.endpoints = service.endpoints.map { Endpoint(address: $0.address, port: port, interface: $0.interface) }
        return framed
    }
}

extension App {
    /// The service of that name; without a name the only one there is.
    /// - Throws: `.notDone` when there is none within `limit`, `.usage` when there are several.
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
            // What is there by now is all there is.
        }
        let services = found.services
        if services.isEmpty, let reason = found.absence { throw DiscoveryError(.backendUnavailable, reason) }
        guard let service = services.first else {
            throw AppError(.notDone, "nobody offers \(type) on this network (\(limit))")
        }
        guard services.count == 1 else {
            let names = services.map { "\"\($0.instance.name)\"" }.sorted().joined(separator: ", ")
            throw AppError(.usage, "there are several, and none was named: \(names)")
        }
        return service
    }
}

import Foundation

/// A line of `--json`, version 1 (docs/contract/json.md).
struct Line: Decodable, Sendable {
    var v: Int
    var event: String
    var service: ServiceLine?
    var name: String?
    var wanted: String?
    var type: String?
    var domain: String?
    var port: Int?
    var state: String?
    var interfaces: [String]?

    init(_ text: String) throws { self = try JSONDecoder().decode(Line.self, from: Data(text.utf8)) }

    /// Whether the line reports this event for a service of this name.
    func tells(_ event: String, _ name: String) -> Bool { self.event == event && service?.name == name }
}

/// A service in JSON.
struct ServiceLine: Decodable, Sendable {
    var name: String
    var type: String
    var domain: String
    var interfaces: [String]
    var subtypes: [String]?
    var host: String?
    var port: Int?
    var txt: [String: Value?]?
    var endpoints: [Endpoint]?
    var state: String?

    init(_ text: String) throws { self = try JSONDecoder().decode(ServiceLine.self, from: Data(text.utf8)) }

    struct Endpoint: Decodable, Sendable {
        var address: String
        var port: Int
        var family: String
        /// Nil in other domains than `local`.
        var interface: String?
    }

    /// A TXT value: text, or bytes that are not valid UTF-8.
    enum Value: Decodable, Hashable, Sendable {
        case text(String)
        case bytes([UInt8])

        private struct Encoded: Decodable { var base64: Data }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .bytes([UInt8](try container.decode(Encoded.self).base64))
            }
        }
    }
}

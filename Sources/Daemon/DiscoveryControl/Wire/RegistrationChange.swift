package import DNSSD
package import DiscoveryJSON

/// What a request changed of an earlier registration: `changed` in the answer to `POST /v1/registrations`.
package struct RegistrationChange: Hashable, Sendable {
    /// A value before and after.
    package struct Pair<Value: Hashable & Sendable>: Hashable, Sendable {
        package let old: Value
        package let new: Value

        /// Nil if it stays.
        init?(_ old: Value, _ new: Value) {
            guard old != new else { return nil }
            (self.old, self.new) = (old, new)
        }
    }

    package let port: Pair<Int>?
    package let txt: Pair<TXTRecord>?
    package let subtypes: Pair<[String]>?
    /// The addresses of the host.
    package let addresses: Pair<[String]>?
    /// Checks as text; nil for none.
    package let check: Pair<String?>?

    /// What is different; nil where nothing is that shows: how often a check looks, what a conflict leads to.
    package init?(from old: RegistrationRequest, to new: RegistrationRequest) {
        port = Pair(Int(old.service.port.rawValue), Int(new.service.port.rawValue))
        txt = Pair(old.service.txt, new.service.txt)
        subtypes = Pair(old.service.subtypes, new.service.subtypes)
        addresses = Pair(Self.addresses(old), Self.addresses(new))
        check = Pair(old.check?.text, new.check?.text)
        guard !isEmpty else { return nil }
    }

    /// Reads the member of an answer; nil if nothing is in it.
    package init?(_ json: JSONValue) {
        port = Self.pair(json["port"]) { $0.integer }
        txt = Self.pair(json["txt"]) { try? RegistrationRequest.txtRecord($0) }
        subtypes = Self.pair(json["subtypes"]) { $0.strings }
        addresses = Self.pair(json["addresses"]) { $0.strings }
        check = Self.pair(json["check"]) { $0 == .null ? .some(nil) : $0.string.map(Optional.some) }
        guard !isEmpty else { return nil }
    }

    private var isEmpty: Bool { texts.isEmpty }

    /// Each change for people, such as `port 80 -> 81`; safe for a terminal.
    package var texts: [String] {
        func text<Value>(_ what: String, _ pair: Pair<Value>?, _ text: (Value) -> String) -> String? {
            pair.map { pair in
                let (old, new) = (text(pair.old), text(pair.new))
                return "\(what) \(old.isEmpty ? "none" : old) -> \(new.isEmpty ? "none" : new)"
            }
        }
        return [
            text("port", port) { "\($0)" }, text("TXT", txt) { $0.description },
            text("subtypes", subtypes) { $0.joined(separator: ", ").escapedForTerminal },
            text("addresses", addresses) { $0.joined(separator: ", ") },
            text("check", check) { $0?.escapedForTerminal ?? "" },
        ].compactMap { $0 }
    }

    private static func addresses(_ request: RegistrationRequest) -> [String] {
        request.service.host?.addresses.map(\.description) ?? []
    }

    private static func pair<Value>(_ json: JSONValue?, _ value: (JSONValue) -> Value?) -> Pair<Value>? {
        guard let old = json?["old"].flatMap(value), let new = json?["new"].flatMap(value) else { return nil }
        return Pair(old, new)
    }
}

extension JSONWriter {
    /// Writes what changed as one object.
    package mutating func registrationChange(_ change: RegistrationChange) {
        func pair<Value>(
            _ pair: RegistrationChange.Pair<Value>?, _ key: String, in object: inout JSONWriter,
            _ write: (inout JSONWriter, Value) -> Void
        ) {
            guard let pair else { return }
            object.key(key)
            object.object { object in
                object.key("old")
                write(&object, pair.old)
                object.key("new")
                write(&object, pair.new)
            }
        }
        object { object in
            pair(change.port, "port", in: &object) { $0.number($1) }
            pair(change.txt, "txt", in: &object) { $0.txt($1) }
            pair(change.subtypes, "subtypes", in: &object, Self.strings)
            pair(change.addresses, "addresses", in: &object, Self.strings)
            pair(change.check, "check", in: &object) { writer, text in
                if let text { writer.string(text) } else { writer.null() }
            }
        }
    }

    private static func strings(_ writer: inout JSONWriter, _ values: [String]) {
        writer.array { for value in values { $0.string(value) } }
    }
}

internal import DNSSD
internal import DiscoveryControl

/// The query parameters of the API's requests.
extension QueryString {
    /// Parameters for services.
    static let ofServices: Set<String> = ["type", "observed", "name", "domain", "interface", "family", "resolve"]
    /// Parameters for types.
    static let ofTypes: Set<String> = ["domain", "interface", "family"]
    /// Parameters for domains.
    static let ofDomains: Set<String> = ["purpose", "domain", "interface"]

    /// - Throws: 400 for an unknown name, or one that is repeated and may not be: a misspelt filter must not list
    ///   everything.
    func allow(_ names: Set<String>, repeated: Set<String> = ["interface"]) throws(ControlError) {
        var seen: Set<String> = []
        for item in items where !repeated.contains(item.name) && !seen.insert(item.name).inserted {
            throw ControlError(400, "invalid-request", "the parameter \(item.name.quotedForMessage) is there twice")
        }
        guard let other = items.first(where: { !names.contains($0.name) })?.name else { return }
        let known = names.isEmpty ? "none is" : names.sorted().joined(separator: ", ") + " are"
        throw ControlError(
            400, "invalid-request", "unknown parameter \(other.quotedForMessage): \(known) known here")
    }

    /// How long to wait for results: `wait` seconds, 5 by default, at most 30.
    /// - Throws: 400 for anything but a number of seconds.
    func patience() throws(ControlError) -> Duration {
        guard let text = self["wait"], !text.isEmpty else { return .seconds(5) }
        guard let seconds = Double(text), (0...30).contains(seconds) else {
            throw ControlError(
                400, "invalid-request",
                "wait=\(text.quotedForMessage): it is a number of seconds from 0 to 30")
        }
        return .milliseconds(Int64(seconds * 1000))
    }
}

#if Commands
internal import ArgumentParser
internal import PeerIdentity

/// Whether a connection is for machines that know each other's keys.
struct TLSOptions: ParsableArguments {
    @Flag(name: .long, help: "Speak TLS, with a machine whose key is known (docs/identity.md).")
    var tls = false

    @Flag(name: .long, help: "With --tls: take the key that comes first for a name, without asking. No access control.")
    var trustFirst = false

    @Option(
        name: .long,
        help: ArgumentHelp("With --tls: only this key, whatever is known. Repeatable.", valueName: "SHA256:base64"),
        transform: { text in
            guard let key = KeyFingerprint(text) else {
                throw ValidationError("'\(text)' is no key: SHA256: and 43 characters, as 'discoverd identity' prints.")
            }
            return key
        })
    var pin: [KeyFingerprint] = []

    func validate() throws {
        if !tls, trustFirst || !pin.isEmpty { throw ValidationError("--trust-first and --pin go with --tls.") }
        if trustFirst, !pin.isEmpty { throw ValidationError("--trust-first and --pin exclude each other.") }
    }

    /// Nil: without TLS.
    /// - Parameter limit: the longest that a handshake takes.
    func wish(within limit: Duration? = nil) -> TLSSupport.Wish? {
        guard tls else { return nil }
        return TLSSupport.Wish(trust: pin.isEmpty ? trustFirst ? .first : .known : .pinned(Set(pin)), limit: limit)
    }
}
#endif

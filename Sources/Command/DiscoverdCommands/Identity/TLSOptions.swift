#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoverySystem
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
        transform: Parsing.key)
    var pin: [KeyFingerprint] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --tls: only whom this certificate authority (PEM) vouches for, whatever is known.", valueName: "file")
    )
    var ca: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --ca: the name that its certificate must have; default: the service's, or a caller's any. Repeatable.",
            valueName: "name"))
    var caName: [String] = []

    func validate() throws {
        let ways = [trustFirst, !pin.isEmpty, ca != nil].count { $0 }
        if !tls, ways > 0 { throw ValidationError("--trust-first, --pin and --ca go with --tls.") }
        if ways > 1 { throw ValidationError("--trust-first, --pin and --ca exclude each other.") }
        if ca == nil, !caName.isEmpty { throw ValidationError("--ca-name goes with --ca.") }
    }

    /// Nil: without TLS.
    /// - Throws: where what the options or the configuration name cannot be used.
    func wish() throws(CommandError) -> TLSWish? { tls ? TLSWish(trust: try trust()) : nil }

    private func trust() throws(CommandError) -> PeerTrust {
        if !pin.isEmpty { return .pinned(Set(pin)) }
        if trustFirst { return .first }
        do throws(PeerAuthority.Failure) {
            if let ca { return .authority(try PeerAuthority(file: ca, names: Set(caName))) }
        } catch {
            throw CommandError(.badConfiguration, "the certificate authority: \(error.description.escapedForTerminal)")
        }
        do throws(TrustFile.Failure) {
            return try TrustFile.trust(in: Environment.configurationDirectories) ?? .known
        } catch {
            throw CommandError(.badConfiguration, "who is let in: \(error.description.escapedForTerminal)")
        }
    }
}

/// How a service is dialled: in plain bytes or over TLS, and at which addresses.
struct DialOptions: ParsableArguments {
    @OptionGroup var security: TLSOptions

    @Flag(
        name: .long, help: "Without --tls: send to a service that announces TLS, and whose key is known, all the same.")
    var plain = false

    @OptionGroup var addresses: PolicyOptions

    /// What only `discoverd-daemon` can do of it.
    var needsMore: String? { security.tls || needsHashes ? CommandNeeds.tls : nil }

    /// Whether a key is known takes a program that finds hashed names.
    private var needsHashes: Bool {
        !plain && KnownFile.knownPeers.content().isHashed && LargeProgram.isInstalled
    }

    func validate() throws {
        if security.tls, plain { throw ValidationError("--tls and --plain exclude each other.") }
    }

    /// Which addresses of a service may be dialled.
    func policy(of instance: ServiceInstance, in session: Session) -> AddressPolicy {
        addresses.policy(naming: instance.domain, and: session.namedDomains)
    }
}
#endif

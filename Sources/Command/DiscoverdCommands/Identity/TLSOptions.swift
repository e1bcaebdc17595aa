#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoverySystem
internal import PeerIdentity

/// Whether a connection is for machines that know each other's keys.
struct TLSOptions: ParsableArguments {
    @Flag(name: .long, help: "Speak TLS, with a machine whose key is known (discoverd-key(1)).")
    var tls = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --tls, whom to trust: only this key SHA256:…; 'first', the first key of a name, unasked; or a file of certificate authorities (PEM), perhaps with name=NAME. Repeatable.",
            valueName: "key|first|file"),
        transform: Parsing.trust)
    var trust: [TrustWord] = []

    @Flag(name: .customLong("trust-first"), help: .hidden)
    var oldFirst = false

    @Option(name: .customLong("pin"), help: .hidden, transform: Parsing.key)
    var oldPins: [KeyFingerprint] = []

    @Option(name: .customLong("ca"), help: .hidden)
    var oldAuthority: String?

    @Option(name: .customLong("ca-name"), help: .hidden)
    var oldNames: [String] = []

    /// All words, with those of the version before.
    private var words: [TrustWord] {
        trust + (oldFirst ? [.first] : []) + oldPins.map { .key($0) }
            + (oldAuthority.map { [.authority(file: $0)] } ?? [])
            + oldNames.map { .name($0) }
    }

    func validate() throws {
        if !tls, !words.isEmpty { throw ValidationError("--trust goes with --tls.") }
        do throws(TrustWord.Failure) { try TrustWord.check(words) } catch { throw ValidationError("\(error).") }
    }

    /// Nil: without TLS.
    /// - Throws: where what the options or the configuration name cannot be used.
    func wish() throws(CommandError) -> TLSWish? { tls ? TLSWish(trust: try peerTrust()) : nil }

    private func peerTrust() throws(CommandError) -> PeerTrust {
        do throws(PeerAuthority.Failure) {
            if let trust = try PeerTrust(words) { return trust }
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

/// How a service is dialled: in plain bytes or over TLS, and at which addresses. A value.
struct Dialling {
    static let plain: ArgumentHelp =
        "Without --tls: send to a service that announces TLS, and whose key is known, all the same."

    let security: TLSOptions
    let plain: Bool
    let addresses: PolicyOptions

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

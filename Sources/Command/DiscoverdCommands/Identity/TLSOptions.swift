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
        transform: TrustWord.init)
    var trust: [TrustWord] = []

    @Flag(name: .customLong("trust-first"), help: .hidden)
    var oldFirst = false

    @Option(name: .customLong("pin"), help: .hidden, transform: Parsing.key)
    var oldPins: [KeyFingerprint] = []

    @Option(name: .customLong("ca"), help: .hidden)
    var oldAuthority: String?

    @Option(name: .customLong("ca-name"), help: .hidden)
    var oldNames: [String] = []

    private var trustFirst: Bool { oldFirst || trust.contains(.first) }
    private var pin: [KeyFingerprint] { oldPins + trust.compactMap { if case .key(let key) = $0 { key } else { nil } } }
    private var authorities: [String] {
        (oldAuthority.map { [$0] } ?? []) + trust.compactMap { if case .authority(let file) = $0 { file } else { nil } }
    }
    private var caName: [String] {
        oldNames + trust.compactMap { if case .name(let name) = $0 { name } else { nil } }
    }

    func validate() throws {
        let ways = [trustFirst, !pin.isEmpty, !authorities.isEmpty].count { $0 }
        if !tls, ways > 0 || !caName.isEmpty { throw ValidationError("--trust goes with --tls.") }
        if ways > 1 || authorities.count > 1 {
            throw ValidationError("--trust takes keys, or 'first', or one file of certificate authorities.")
        }
        if authorities.isEmpty, !caName.isEmpty {
            throw ValidationError("--trust name=NAME goes with a file of certificate authorities.")
        }
    }

    /// Nil: without TLS.
    /// - Throws: where what the options or the configuration name cannot be used.
    func wish() throws(CommandError) -> TLSWish? { tls ? TLSWish(trust: try peerTrust()) : nil }

    private func peerTrust() throws(CommandError) -> PeerTrust {
        if !pin.isEmpty { return .pinned(Set(pin)) }
        if trustFirst { return .first }
        do throws(PeerAuthority.Failure) {
            if let ca = authorities.first { return .authority(try PeerAuthority(file: ca, names: Set(caName))) }
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

/// Whom `--trust` names: a key, who comes first, whom a certificate authority vouches for, or the name that it has to vouch for.
enum TrustWord: Hashable, Sendable {
    case first
    case key(KeyFingerprint)
    case authority(String)
    case name(String)

    init(_ text: String) throws {
        if text == "first" {
            self = .first
        } else if text.hasPrefix("SHA256:") {
            self = .key(try Parsing.key(text))
        } else if text.hasPrefix("name=") {
            self = .name(String(text.dropFirst(5)))
        } else {
            self = .authority(text)
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

public import ArgumentParser
public import CommandFrame
public import DiscoveryTLS
public import PeerIdentity

/// Whose keys are taken, for programs that speak TLS unless they are told not to.
public struct PeerOptions: ParsableArguments, Sendable {
    /// Whom to let in.
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Whom to trust: only this key SHA256:…; 'first', the first key of a name, unasked; or a file of certificate authorities (PEM), "
                + "perhaps with name=NAME. Repeatable. 'first' is no access control (discoverd-key(1)).",
            valueName: "key|first|file"),
        transform: Trusted.init)
    public var trust: [Trusted] = []

    @Flag(name: .customLong("trust-first"), help: .hidden)
    var oldFirst = false

    @Option(name: .customLong("pin"), help: .hidden, transform: Trusted.key)
    var oldPins: [KeyFingerprint] = []

    /// Whom `--trust` names.
    public enum Trusted: Hashable, Sendable {
        /// The key that comes first for a name.
        case first
        /// This one.
        case key(KeyFingerprint)
        /// Whom the certificate authorities in a file vouch for.
        case authority(String)
        /// The name that they have to vouch for.
        case name(String)

        init(_ text: String) throws {
            if text == "first" {
                self = .first
            } else if text.hasPrefix("SHA256:") {
                self = .key(try Self.key(text))
            } else if text.hasPrefix("name=") {
                self = .name(String(text.dropFirst(5)))
            } else {
                self = .authority(text)
            }
        }

        static func key(_ text: String) throws -> KeyFingerprint {
            guard let key = KeyFingerprint(text) else {
                throw ValidationError("'\(text)' is no key: SHA256: and 43 characters, as 'discoverd key show' prints.")
            }
            return key
        }
    }

    /// Take the key that comes first for a name, without asking.
    public var trustFirst: Bool { oldFirst || trust.contains(.first) }

    /// Only these keys, whatever is known.
    private var pins: [KeyFingerprint] {
        oldPins + trust.compactMap { if case .key(let key) = $0 { key } else { nil } }
    }

    private var authorities: [String] { trust.compactMap { if case .authority(let file) = $0 { file } else { nil } } }

    private var names: [String] { trust.compactMap { if case .name(let name) = $0 { name } else { nil } } }

    /// The options without any argument.
    public init() {}

    /// 'first', keys and authorities exclude each other.
    public func validate() throws {
        if [trustFirst, !pins.isEmpty, !authorities.isEmpty].count(where: \.self) > 1 || authorities.count > 1 {
            throw ValidationError("--trust takes keys, or 'first', or one file of certificate authorities.")
        }
        if authorities.isEmpty, !names.isEmpty {
            throw ValidationError("--trust name=NAME goes with a file of certificate authorities.")
        }
    }

    /// Ends with an error where --plain is given, too.
    public func validate(plain: Bool) throws {
        if plain, trustFirst || !pins.isEmpty || !authorities.isEmpty {
            throw ValidationError("--trust is for TLS, which --plain is not.")
        }
    }

    /// What the options say, else the configuration of this machine or user.
    public func peerTrust() throws(CommandError) -> PeerTrust {
        if !pins.isEmpty { return .pinned(Set(pins)) }
        if trustFirst { return .first }
        do throws(PeerAuthority.Failure) {
            if let file = authorities.first { return .authority(try PeerAuthority(file: file, names: Set(names))) }
        } catch {
            throw CommandError(.badConfiguration, "the certificate authority: \(error.description)")
        }
        do throws(TrustFile.Failure) {
            return try .configured()
        } catch {
            throw CommandError(.badConfiguration, "who is let in: \(error.description)")
        }
    }

    /// TLS with the key of this user and the keys that this user knows: the same files as those of `discoverd`.
    /// - Parameters:
    ///   - told: prints a message, as that a name was bound to the key of a machine that was paired.
    ///   - trust: instead of what the options say.
    ///   - asks: the person at the terminal is asked about keys that are not known, if there is one.
    public func tls(
        trust: PeerTrust? = nil, asks: Bool = true, told: @escaping @Sendable (String) -> Void
    ) throws(CommandError) -> PeerTLS {
        let identity: MachineIdentity
        let known: KnownPeersFile
        do throws(MachineIdentity.Failure) {
            let directory = try IdentityDirectory()
            identity = try directory.identity()
            known = directory.known
        } catch {
            throw CommandError(.badConfiguration, "this machine's key: \(error.description)")
        }
        var ask: (@Sendable (PeerTLS.Question) async -> Bool)?
        if asks, TerminalQuestion.isPossible {
            ask = { question in await TerminalQuestion.ask(question.text, answers: ["yes", "no"]) == "yes" }
        }
        var wish = trust
        if wish == nil { wish = try peerTrust() }
        do throws(KnownPeersFile.Failure) {
            // Later, everyone would be refused for it.
            switch wish ?? .known {
            case .known, .first, .strangers: _ = try known.read()
            case .pinned, .authority: break
            }
        } catch {
            throw CommandError(.badConfiguration, "the known keys: \(error.description)")
        }
        do {
            var tls = try PeerTLS(identity: identity, known: known, trust: wish ?? .known, ask: ask)
            tls.vouched = { name, voucher in told(voucher.notice(of: name)) }
            return tls
        } catch let failure as PeerAuthority.Failure {
            throw CommandError(.badConfiguration, "the certificate authority: \(failure.description)")
        } catch {
            throw CommandError(.badConfiguration, "this machine's key cannot be used: \(error)")
        }
    }
}

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
        transform: Self.word)
    public var trust: [TrustWord] = []

    @Flag(name: .customLong("trust-first"), help: .hidden)
    var oldFirst = false

    @Option(name: .customLong("pin"), help: .hidden, transform: Self.key)
    var oldPins: [TrustWord] = []

    private static func word(_ text: String) throws -> TrustWord {
        do throws(TrustWord.Failure) { return try TrustWord(text) } catch { throw ValidationError("\(error).") }
    }

    private static func key(_ text: String) throws -> TrustWord {
        guard case .key(let key) = try word(text) else { throw ValidationError("--pin takes keys: SHA256:….") }
        return .key(key)
    }

    /// All words, with those of the version before.
    private var words: [TrustWord] { trust + (oldFirst ? [.first] : []) + oldPins }

    /// Take the key that comes first for a name, without asking.
    public var trustFirst: Bool { words.contains(.first) }

    /// The options without any argument.
    public init() {}

    /// 'first', keys and authorities exclude each other.
    public func validate() throws {
        do throws(TrustWord.Failure) { try TrustWord.check(words) } catch { throw ValidationError("\(error).") }
    }

    /// Ends with an error where --plain is given, too.
    public func validate(plain: Bool) throws {
        if plain, !words.isEmpty { throw ValidationError("--trust is for TLS, which --plain is not.") }
    }

    /// What the options say, else the configuration of this machine or user.
    public func peerTrust() throws(CommandError) -> PeerTrust {
        do throws(PeerAuthority.Failure) {
            if let trust = try PeerTrust(words) { return trust }
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

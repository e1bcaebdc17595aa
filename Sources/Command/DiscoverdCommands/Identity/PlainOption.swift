#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import PeerIdentity
internal import DiscoverySystem

/// Whether plain bytes go to a service whose key is known.
struct PlainOption: ParsableArguments {
    @Flag(
        name: .long, help: "Without --tls: send to a service that announces TLS, and whose key is known, all the same.")
    var plain = false

    /// Whether its key is known takes a program that finds hashed names.
    var needsHashes: Bool { !plain && PlainGuard.namesAreHashed && SiblingProgram.dns.isInstalled }
}

/// Keeps what is to be said to a machine that is known from being said to another, where TLS was forgotten.
struct PlainGuard: Sendable {
    /// Finds hashed names.
    let hmac: HashedName.HMAC?

    private static var path: String? { Environment.stateDirectory.map { "\($0)/\(KnownPeersFile.name)" } }

    static var namesAreHashed: Bool { path.map { (try? KnownPeersFile(path: $0).read().isHashed) ?? false } ?? false }

    /// Judges a service that was dialled. With known keys that cannot be read, any that announces TLS may be known.
    /// - Parameters:
    ///   - record: its TXT record, as far as it has come.
    ///   - complete: finds all of it, for a service whose key is known.
    func judge(
        _ instance: ServiceInstance, announcing record: TXTRecord?, _ complete: () async -> TXTRecord?
    ) async -> PlainSpeech {
        guard let path = Self.path else { return .usual }
        let known: KnownPeers
        do throws(KnownPeersFile.Failure) {
            known = try KnownPeersFile(path: path, hmac: hmac).read()
        } catch {
            let record = if let record { record } else { await complete() }
            guard record?.text(for: "tls") == "1" else { return .usual }
            let (name, reason) = (PeerName.service(instance).text, error.description.escapedForTerminal)
            return .refused("\(name) announces TLS, and whether its key is known cannot be said: \(reason)")
        }
        guard known.count > 0 else { return .usual }
        let speech = known.plainSpeech(to: instance, announcing: record)
        guard case .doubtful = speech, let record = await complete() else { return speech }
        return known.plainSpeech(to: instance, announcing: record)
    }
}
#endif

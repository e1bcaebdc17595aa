import DNSSD
import DiscoverySystem
import Libc

/// Certificate authorities, and whom they must have certified.
public struct PeerAuthority: Hashable, Sendable {
    /// Why it cannot be used; ends a sentence.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        public let description: String

        package init(_ description: String) { self.description = description }
    }

    private static let longest = 1 << 20

    /// The authorities' certificates, PEM (RFC 7468).
    public var certificates: String
    /// Names of which a peer's certificate must have one. Empty: who is dialled must have the name that was dialled, a caller may have any.
    public var names: Set<String>

    /// Creates a policy.
    public init(certificates: String, names: Set<String> = []) {
        self.certificates = certificates
        self.names = names
    }

    /// With the certificates in a file.
    /// - Throws: where it cannot be read, or others may write it.
    public init(file path: String, names: Set<String> = []) throws(Failure) {
        do throws(SystemError) {
            let bytes = try SystemFile.readTrusted(path, atMost: Self.longest)
            self.init(certificates: String(decoding: bytes, as: UTF8.self), names: names)
        } catch {
            throw Failure(error.code == EPERM ? "\(path): another user may write it" : error.description)
        }
    }

    /// Whether a certificate with these names may be used by whoever has the name `peer` here.
    ///
    /// Of a service that is its instance name or its full name, never the host in its SRV record: that comes from the network, so any certified machine could
    /// answer for any service.
    package func admits(_ certified: [String], as peer: PeerName) -> Bool {
        let wanted = names.isEmpty ? peer.certifiedNames : Array(names)
        guard let wanted else { return true }
        return wanted.contains { name in certified.contains { $0.hasSameFoldedBytes(as: name) } }
    }
}

extension PeerName {
    /// The names that a certificate may have for it; nil: any.
    fileprivate var certifiedNames: [String]? {
        switch self {
        case .service(let instance): [instance.name.text, instance.fullName]
        case .host(let host): [host.text]
        case .label: nil
        }
    }
}

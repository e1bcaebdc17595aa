#if TLS
internal import Foundation
internal import NIOSSL
internal import PeerIdentity
internal import SwiftASN1
internal import X509

/// What a certificate says. Nothing of it is proven but the key, by the handshake.
struct PeerCertificate: Sendable {
    let key: KeyFingerprint
    /// The common name, at most 256 bytes; empty where there is none.
    let label: String
    let end: Date

    init(_ certificate: NIOSSLCertificate) throws {
        key = try certificate.keyFingerprint
        let parsed = try Certificate(derEncoded: certificate.toDERBytes())
        end = parsed.notValidAfter
        let names = parsed.subject.flatMap { Array($0) }.filter { $0.type == .RDNAttributeType.commonName }
        let name = names.last.flatMap { String($0.value) } ?? ""
        label = name.utf8.count <= PeerName.longestLabel ? name : ""
    }

    /// Its time is over.
    var isExpired: Bool { end < Date() }
}
#endif

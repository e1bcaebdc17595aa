#if TLS
internal import DiscoverySystem
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import PeerIdentity
internal import SwiftASN1
internal import X509

/// Judges the certificate of one handshake.
final class PeerVerification: Sendable {
    enum Role: Sendable {
        /// Someone is dialled by this name.
        case calling(PeerName)
        /// Someone dialled in.
        case answering
    }

    /// The most keys that become known without a person's yes.
    private static let mostLearned = 1000

    private let tls: PeerTLS
    private let role: Role
    private let outcome = Locked<Result<Finding, PeerRefusal>?>(nil)
    private let judging = Locked<Task<Void, Never>?>(nil)

    /// A key that may come in, once the handshake has proven it.
    private struct Finding: Sendable {
        var peer: PeerTLS.Peer
        var certificate: PeerCertificate
        /// A person has said yes.
        var isApproved = false
    }

    init(_ tls: PeerTLS, _ role: Role) {
        self.tls = tls
        self.role = role
    }

    /// What was found; nil before there was a certificate.
    var result: Result<PeerTLS.Peer, PeerRefusal>? { outcome.withLock { $0?.map(\.peer) } }

    /// Judges a chain of certificates: its first one, for the key alone counts, unless an authority is asked. Files are read apart from the event
    /// loop.
    func judge(_ chain: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>) {
        let certificate = chain.first.flatMap { try? PeerCertificate($0) }
        let task = promise.completeWithTask { [self] in
            let result = await judge(certificate, chain)
            outcome.withLock { $0 = result }
            return if case .success = result { .certificateVerified } else { .failed }
        }
        judging.withLock { $0 = task }
    }

    /// The connection has ended or took too long: a person who is being asked is asked no more.
    func abandon() {
        judging.withLock { $0 }?.cancel()
    }

    /// The handshake has proven that the peer has the key: one that is new becomes known now, not before.
    func conclude(on loop: any NIOCore.EventLoop) -> EventLoopFuture<Result<PeerTLS.Peer, PeerRefusal>> {
        guard let result = outcome.withLock({ $0 }) else {
            // As after the resumption of a session.
            return loop.makeSucceededFuture(.failure(.noTLS("it showed no certificate")))
        }
        guard case .success(let finding) = result, finding.peer.isNew, !finding.peer.isStranger else {
            return loop.makeSucceededFuture(result.map(\.peer))
        }
        return loop.makeFutureWithTask { [self] in await apart { try self.learn(finding) } }
    }

    private func judge(
        _ certificate: PeerCertificate?, _ chain: [NIOSSLCertificate]
    ) async -> Result<Finding, PeerRefusal> {
        guard let certificate else { return .failure(.unreadable(name(nil))) }
        let (name, key) = (name(certificate), certificate.key)
        guard !certificate.isExpired else { return .failure(.expired(name, key)) }
        if case .authority = tls.trust { return await judge(certificate, by: tls.authorities, chain) }
        let verdict = await apart { .success(self.verdict(on: certificate, try self.known())) }
        func found(isNew: Bool, isApproved: Bool = false) -> Result<Finding, PeerRefusal> {
            let peer = PeerTLS.Peer(name: name, key: key, isNew: isNew)
            return .success(Finding(peer: peer, certificate: certificate, isApproved: isApproved))
        }
        switch verdict {
        case .failure(let refusal): return .failure(refusal)
        case .success(.known): return found(isNew: false)
        case .success(.changed(let known)): return .failure(.changed(name, known: known, now: key))
        case .success(.foreign): return .failure(.foreign(name, key))
        // What cannot be written down would be new for ever.
        case .success where PeerName(name.description) != name: return .failure(.unreadable(name))
        case .success(.learned), .success(.vouched): return found(isNew: true)
        case .success(.unknown) where tls.trust == .strangers:
            return .success(
                Finding(
                    peer: PeerTLS.Peer(name: name, key: key, isNew: true, isStranger: true), certificate: certificate))
        case .success(.unknown(let names)):
            let question = PeerTLS.Question(name: name, key: key, otherNames: names)
            guard let ask = tls.ask, await ask(question) else { return .failure(.unknown(name, key)) }
            return found(isNew: true, isApproved: true)
        }
    }

    private func judge(
        _ certificate: PeerCertificate, by authorities: CertificateAuthorities?, _ chain: [NIOSSLCertificate]
    ) async -> Result<Finding, PeerRefusal> {
        let (name, key) = (name(certificate), certificate.key)
        let use: CertificateAuthorities.Use = if case .calling = role { .answering } else { .calling }
        guard let authorities else { return .failure(.uncertified(name, key)) }
        return switch await authorities.refusal(of: chain, as: name, use) {
        case .uncertified: .failure(.uncertified(name, key))
        case .misnamed: .failure(.misnamed(name, key))
        case nil:
            .success(Finding(peer: PeerTLS.Peer(name: name, key: key, isNew: false), certificate: certificate))
        }
    }

    /// Looks again under the file's lock: another process may have learned another key meanwhile.
    private func learn(_ finding: Finding) throws -> Result<PeerTLS.Peer, PeerRefusal> {
        let (name, key) = (finding.peer.name, finding.peer.key)
        return try tls.known.withHashes.change { known in
            switch verdict(on: finding.certificate, known) {
            case .changed(let old): return .failure(.changed(name, known: old, now: key))
            case .foreign: return .failure(.foreign(name, key))
            case .unknown where !finding.isApproved: return .failure(.unknown(name, key))
            case .learned where known.count >= Self.mostLearned:
                return .failure(
                    .unreadableFile("\(Self.mostLearned) keys are known, and no more are taken without a person's yes"))
            case .known: break
            case .unknown, .learned: known.add(KnownPeers.Peer(name, key))
            case .vouched(let voucher):
                known.add(KnownPeers.Peer(name, key))
                tls.vouched?(name, voucher)
            }
            return .success(finding.peer)
        }
    }

    /// Runs what reads and writes files on a thread that may wait.
    private func apart<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Result<Value, PeerRefusal>
    ) async -> Result<Value, PeerRefusal> {
        do {
            return try await NIOThreadPool.singleton.runIfActive(body)
        } catch let refusal as PeerRefusal {
            return .failure(refusal)
        } catch {
            return .failure(.unreadableFile("\(error)"))
        }
    }

    /// What is pinned counts whatever is known.
    private func known() throws -> KnownPeers {
        if case .pinned = tls.trust { KnownPeers() } else { try tls.known.withHashes.read() }
    }

    private func verdict(on certificate: PeerCertificate, _ known: KnownPeers) -> PeerVerdict {
        switch role {
        case .calling(let name): known.verdict(on: certificate.key, of: name, tls.trust)
        case .answering: known.verdict(onCaller: certificate.key, claiming: certificate.label, tls.trust)
        }
    }

    private func name(_ certificate: PeerCertificate?) -> PeerName {
        switch role {
        case .calling(let name): name
        case .answering: .label(certificate?.label ?? "")
        }
    }
}

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

    /// It has expired.
    var isExpired: Bool { end < Date() }
}
#endif

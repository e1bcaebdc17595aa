#if TLS
internal import NIOCore
internal import NIOSSL
internal import PeerIdentity
internal import System

/// Judges the certificate of one handshake.
final class PeerVerification: Sendable {
    enum Role: Sendable {
        /// Someone is dialled by this name.
        case calling(PeerName)
        /// Someone dialled in.
        case answering
    }

    private let tls: PeerTLS
    private let role: Role
    private let outcome = Locked<Result<PeerTLS.Peer, PeerRefusal>?>(nil)

    init(_ tls: PeerTLS, _ role: Role) {
        self.tls = tls
        self.role = role
    }

    /// What was found; nil before there was a certificate.
    var result: Result<PeerTLS.Peer, PeerRefusal>? { outcome.withLock { $0 } }

    /// Judges a chain of certificates: its first one, for the key alone counts. Files are read apart from the event loop.
    func judge(_ chain: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>) {
        let certificate = chain.first.flatMap { try? PeerCertificate($0) }
        promise.completeWithTask { [self] in
            let result = await judge(certificate)
            outcome.withLock { $0 = result }
            return if case .success = result { .certificateVerified } else { .failed }
        }
    }

    private func judge(_ certificate: PeerCertificate?) async -> Result<PeerTLS.Peer, PeerRefusal> {
        guard let certificate else { return .failure(.unreadable(name(nil))) }
        let (name, key) = (name(certificate), certificate.key)
        guard !certificate.isExpired else { return .failure(.expired(name, key)) }
        do {
            switch try verdict(on: certificate, tls.known.read()) {
            case .known: return .success(PeerTLS.Peer(name: name, key: key, isNew: false))
            case .changed(let known): return .failure(.changed(name, known: known, now: key))
            case .foreign: return .failure(.foreign(name, key))
            case .learned: return try learn(certificate, asked: false)
            case .unknown(let names):
                let question = PeerTLS.Question(name: name, key: key, otherNames: names)
                guard let ask = tls.ask, await ask(question) else { return .failure(.unknown(name, key)) }
                return try learn(certificate, asked: true)
            }
        } catch let refusal as PeerRefusal {
            return .failure(refusal)
        } catch {
            return .failure(.unreadableFile("\(error)"))
        }
    }

    /// Looks again under the file's lock: another process may have learned another key meanwhile.
    private func learn(_ certificate: PeerCertificate, asked: Bool) throws -> Result<PeerTLS.Peer, PeerRefusal> {
        let (name, key) = (name(certificate), certificate.key)
        return try tls.known.change { known in
            switch verdict(on: certificate, known) {
            case .changed(let old): return .failure(.changed(name, known: old, now: key))
            case .foreign: return .failure(.foreign(name, key))
            case .unknown where !asked: return .failure(.unknown(name, key))
            case .known: return .success(PeerTLS.Peer(name: name, key: key, isNew: false))
            case .unknown, .learned:
                known.add(KnownPeers.Peer(name, key))
                return .success(PeerTLS.Peer(name: name, key: key, isNew: true))
            }
        }
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
#endif

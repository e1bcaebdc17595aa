package import DNSMessage
package import DNSSD
import System
import WireNames

/// The zone that a domain lies in, and where updates of it go.
package struct Zone: Hashable, Sendable {
    /// Its name.
    package var name: DomainName
    /// Its version, when it was asked for.
    package var serial: UInt32
    /// How long a "no" may be remembered (RFC 2308 §5).
    package var negativeTTL: Duration
    /// The primary server's addresses, or those of the server that is configured: at least one.
    package var servers: [ServerAddress]
}

/// Finds the zone of a domain: by the SOA record that the domain's name is answered with, in the answer or, below the zone's name, beside it
/// (RFC 2136 §4.1, RFC 2308 §2). What was found holds as long as that record, within bounds.
package final class ZoneFinder: Sendable {
    /// Zones that are remembered.
    private static let maximum = 256
    private static let shortest = Duration.seconds(5)
    private static let longest = Duration.seconds(3600)

    private struct Known {
        var zone: Zone
        var until: ContinuousClock.Instant
    }

    private let exchange: any DNSExchange
    private let known = Locked([Domain: Known]())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: The clock.
    package init(
        exchange: any DNSExchange, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        (self.exchange, self.now) = (exchange, now)
    }

    /// The zone of a domain.
    /// - Parameter server: The server that is configured for it.
    /// - Throws: `.misconfigured` when there is no such zone, or no server for it; `.backendUnavailable` when nobody answers.
    package func zone(of domain: Domain, server: ServerName? = nil) async throws(DiscoveryError) -> Zone {
        let time = now()
        if let known = known.withLock({ $0[domain] }), known.until > time { return known.zone }
        let configured: [ServerAddress] = if let server { try await addresses(of: server) } else { [] }
        let (owner, soa, ttl) = try await authority(of: domain, at: configured.first)
        var servers = configured
        if servers.isEmpty {
            servers = try await addresses(of: soa.primary).compactMap { address in
                Port(rawValue: 53).map { ServerAddress(address, port: $0) }
            }
            guard !servers.isEmpty else {
                throw DiscoveryError(
                    .misconfigured,
                    "the primary server of \(owner), \(soa.primary), has no address here: name a server for \(domain)")
            }
        }
        let zone = Zone(
            name: owner, serial: soa.serial, negativeTTL: .seconds(Int64(min(soa.minimum, ttl))), servers: servers)
        let until = time + min(max(.seconds(Int64(ttl)), Self.shortest), Self.longest)
        known.withLock { known in
            if known.count >= Self.maximum { known = known.filter { $0.value.until > time } }
            if known.count < Self.maximum { known[domain] = Known(zone: zone, until: until) }
        }
        return zone
    }

    /// It may have moved: the next time it is looked up again.
    package func forget(_ domain: Domain) { known.withLock { $0[domain] = nil } }

    /// A server's addresses; those of a host name from the host's resolver.
    package func addresses(of server: ServerName) async throws(DiscoveryError) -> [ServerAddress] {
        switch server.host {
        case .address(let address): return [ServerAddress(address, port: server.port)]
        case .name(let host):
            guard let domain = try? Domain(host.name), let name = try? DomainName(labels: domain.labels) else {
                throw DiscoveryError(.misconfigured, "\(host) is no name of a server")
            }
            let found = try await addresses(of: name)
            guard !found.isEmpty else { throw DiscoveryError(.misconfigured, "the server \(host) has no address") }
            return found.map { ServerAddress($0, port: server.port) }
        }
    }

    private func addresses(of name: DomainName) async throws(DiscoveryError) -> [IPAddress] {
        var found: [IPAddress] = []
        for type in [RecordType.a, .aaaa] {
            let answer = try await ask(Question(name, type), of: .resolver)
            found += answer.message.answers.filter { $0.type == type }.compactMap { IPAddress($0.data, scope: 0) }
        }
        return found
    }

    private func authority(
        of domain: Domain, at server: ServerAddress?
    ) async throws(DiscoveryError) -> (DomainName, StartOfAuthority, ttl: UInt32) {
        guard let name = try? DomainName(labels: domain.labels) else {
            throw DiscoveryError(.misconfigured, "\(domain) is no name of a zone")
        }
        let answer = try await ask(Question(name, .soa), of: server.map(DNSTarget.server) ?? .resolver)
        let message = answer.message
        switch message.responseCode {
        case ResponseCode.noError, ResponseCode.noSuchName:
            for record in message.answers + message.authorities {
                // The zones of all names, and of top-level domains, are nobody's to publish in.
                guard case .soa(let soa) = record.data, name.isWithin(record.name), record.name.labels.count > 1 else {
                    continue
                }
                return (record.name, soa, record.ttl)
            }
            throw DiscoveryError(.misconfigured, "there is no zone for \(domain), says \(answer.server)")
        case ResponseCode.serverFailure:
            throw DiscoveryError(.backendUnavailable, "\(answer.server) fails to say anything of \(domain) (SERVFAIL)")
        case let code:
            throw DiscoveryError(
                .misconfigured, "\(answer.server) does not serve \(domain) (\(ResponseCode.name(of: code)))")
        }
    }

    private func ask(_ question: Question, of whom: DNSTarget) async throws(DiscoveryError) -> DNSAnswer {
        do throws(DNSFailure) {
            return try await exchange.ask(question, of: whom)
        } catch {
            switch error {
            case .silent(let reason): throw DiscoveryError(.backendUnavailable, "no DNS server answers: \(reason)")
            case .system(let reason): throw DiscoveryError(.systemRefused, reason)
            case .impossible(let reason): throw DiscoveryError(.misconfigured, reason)
            }
        }
    }
}

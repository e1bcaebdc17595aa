package import DNSMessage
package import DNSSD
import DiscoverySystem

/// The zone that contains a domain, and the servers that take its updates.
package struct Zone: Hashable, Sendable {
    /// The zone's name.
    package var name: DomainName
    /// The zone's version at the time of the question.
    package var serial: UInt32
    /// How long a negative answer may be cached (RFC 2308 §5).
    package var negativeTTL: Duration
    /// The addresses of the configured server, or else of the primary server; at least one. One that answers comes
    /// first.
    package var servers: [ServerAddress]
}

/// Finds the zone of a domain by asking for the SOA record of the domain's name. It is in the answer or, for a name
/// below the zone's, in the authority section (RFC 2136 §4.1, RFC 2308 §2). A zone is remembered for the record's TTL,
/// within bounds.
package final class ZoneFinder: Sendable {
    /// The most zones that are remembered.
    private static let maximum = 256
    private static let shortest = Duration.seconds(5)
    private static let longest = Duration.seconds(3600)

    private struct Known {
        var zone: Zone
        var until: ContinuousClock.Instant
    }

    private let exchange: any DNSExchange
    private let known = Locked([Domain: Known]())
    /// The domains whose server has been found once.
    private let served = Locked(Set<Domain>())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Creates a finder.
    /// - Parameters:
    ///   - exchange: carries the questions.
    ///   - now: returns the time.
    package init(
        exchange: any DNSExchange, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        (self.exchange, self.now) = (exchange, now)
    }

    /// Returns the zone of a domain.
    /// - Parameters:
    ///   - domain: the domain.
    ///   - server: the server that is configured for it; nil to ask the host's resolver.
    /// - Throws: `.misconfigured` if there is no such zone or no server for it; `.backendUnavailable` if no server
    ///   answers; `.systemRefused`.
    package func zone(of domain: Domain, server: ServerName? = nil) async throws(DiscoveryError) -> Zone {
        let time = now()
        if let known = known.withLock({ $0[domain] }), known.until > time { return known.zone }
        let configured: [ServerAddress] = if let server { try await addresses(of: server) } else { [] }
        let (owner, soa, ttl, answerer) = try await authority(
            of: domain, at: configured.isEmpty ? .resolver : .servers(configured))
        var servers = configured.answering(answerer)
        if servers.isEmpty {
            servers = try await addresses(of: soa.primary).compactMap { address in
                Port(rawValue: 53).map { ServerAddress(address, port: $0) }
            }
            guard !servers.isEmpty else {
                throw DiscoveryError(
                    .misconfigured,
                    "the primary server of \(owner), \(soa.primary), has no address here: name a server for \(domain)")
            }
            // Not every address can be reached from here.
            if servers.count > 1 {
                servers = servers.answering(try await ask(Question(owner, .soa), of: .servers(servers)).server)
            }
        }
        let zone = Zone(
            name: owner, serial: soa.serial, negativeTTL: .seconds(Int64(min(soa.minimum, ttl))), servers: servers)
        let until = time + min(max(.seconds(Int64(ttl)), Self.shortest), Self.longest)
        served.withLock { if $0.count < Self.maximum { $0.insert(domain) } }
        known.withLock { known in
            if known.count >= Self.maximum { known = known.filter { $0.value.until > time } }
            if known.count < Self.maximum { known[domain] = Known(zone: zone, until: until) }
        }
        return zone
    }

    /// Forgets a domain's zone, because it may have moved.
    package func forget(_ domain: Domain) { known.withLock { $0[domain] = nil } }

    /// Returns a server's addresses, looking up a host name with the host's resolver.
    /// - Throws: as `zone(of:server:)`.
    package func addresses(of server: ServerName) async throws(DiscoveryError) -> [ServerAddress] {
        switch server.host {
        case .address(let address): return [ServerAddress(address, port: server.port)]
        case .name(let host):
            guard let domain = try? Domain(host.text), let name = try? DomainName(labels: domain.labels) else {
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
        of domain: Domain, at target: DNSTarget
    ) async throws(DiscoveryError) -> (DomainName, StartOfAuthority, ttl: UInt32, ServerAddress) {
        guard let name = try? DomainName(labels: domain.labels) else {
            throw DiscoveryError(.misconfigured, "\(domain) is no name of a zone")
        }
        let answer = try await ask(Question(name, .soa), of: target)
        let message = answer.message
        switch message.responseCode {
        case ResponseCode.noError, ResponseCode.noSuchName:
            for record in message.answers + message.authorities {
                // No one publishes in the root zone or in a top-level domain.
                guard case .soa(let soa) = record.data, name.isWithin(record.name), record.name.labels.count > 1 else {
                    continue
                }
                return (record.name, soa, record.ttl, answer.server)
            }
            throw DiscoveryError(.misconfigured, "there is no zone for \(domain), says \(answer.server)")
        // A resolver may reach the zone's server later, whereas a server that was named for the zone does not serve it.
        // One that has served it may still be loading it.
        case ResponseCode.serverFailure where target == .resolver || served.withLock({ $0.contains(domain) }):
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
            case .silent(let reason): throw DiscoveryError(.backendUnavailable, reason)
            case .system(let reason): throw DiscoveryError(.systemRefused, reason)
            case .impossible(let reason): throw DiscoveryError(.misconfigured, reason)
            }
        }
    }
}

extension [ServerAddress] {
    /// The one that has answered comes first.
    fileprivate func answering(_ server: ServerAddress) -> [ServerAddress] {
        filter { $0 == server } + filter { $0 != server }
    }
}

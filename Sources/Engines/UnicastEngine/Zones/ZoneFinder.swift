import DNSMessage
import DNSSD
import DiscoverySystem

/// Finds the zone of a domain by asking for the SOA record of the domain's name. It is in the answer or, for a name
/// below the zone's, in the authority section (RFC 2136 §4.1, RFC 2308 §2).
final class ZoneFinder: Sendable {
    /// The most domains that are remembered.
    private static let maximum = 256

    private let exchange: any DNSExchange
    /// The domains whose server has been found once.
    private let served = Locked(Set<Domain>())

    /// - Parameter exchange: carries the questions.
    init(exchange: any DNSExchange) { self.exchange = exchange }

    /// Returns the zone of a domain, and the address that takes its updates: of the server that is configured, the one that answers; else
    /// of the primary server.
    /// - Parameters:
    ///   - domain: the domain.
    ///   - server: the server that is configured for it; nil to ask the host's resolver.
    /// - Throws: `.misconfigured` if there is no such zone or no server for it; `.backendUnavailable` if no server
    ///   answers; `.systemRefused`.
    func zone(of domain: Domain, server: ServerName? = nil) async throws(DiscoveryError) -> ZoneLocation {
        var configured: [ServerAddress] = []
        if let server {
            configured = try await answer { () async throws(DNSFailure) -> [ServerAddress] in
                try await exchange.addresses(of: server)
            }
            guard !configured.isEmpty else {
                throw DiscoveryError(.misconfigured, "the server \(server) has no address")
            }
        }
        let (zone, primary, answerer) = try await authority(
            of: domain, at: configured.isEmpty ? .resolver : .servers(configured))
        var address = answerer
        if configured.isEmpty { address = try await self.primary(primary, of: zone, for: domain) }
        served.withLock { if $0.count < Self.maximum { $0.insert(domain) } }
        return ZoneLocation(zone: zone, server: address)
    }

    /// Returns the address of a zone's primary server.
    private func primary(
        _ name: DomainName, of zone: DomainName, for domain: Domain
    ) async throws(DiscoveryError) -> ServerAddress {
        let addresses = try await answer { () async throws(DNSFailure) -> [IPAddress] in
            try await exchange.addresses(of: name)
        }
        let servers = addresses.compactMap { address in
            Port(rawValue: 53).map { ServerAddress(address, port: $0) }
        }
        guard let first = servers.first else {
            throw DiscoveryError(
                .misconfigured,
                "the primary server of \(zone), \(name), has no address here: name a server for \(domain)")
        }
        // Not every address can be reached from here.
        guard servers.count > 1 else { return first }
        return try await ask(Question(zone, .soa), of: .servers(servers)).server
    }

    private func authority(
        of domain: Domain, at target: DNSTarget
    ) async throws(DiscoveryError) -> (zone: DomainName, primary: DomainName, answerer: ServerAddress) {
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
                return (record.name, soa.primary, answer.server)
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
        try await answer { () async throws(DNSFailure) -> DNSAnswer in try await exchange.ask(question, of: whom) }
    }

    private func answer<Value>(
        _ body: () async throws(DNSFailure) -> Value
    ) async throws(DiscoveryError) -> Value {
        do throws(DNSFailure) {
            return try await body()
        } catch {
            throw error.asDiscoveryError
        }
    }
}

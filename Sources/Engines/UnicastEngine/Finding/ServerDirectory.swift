import DNSMessage
import DNSSD
import DiscoverySystem

/// Chooses the server to ask about a name: the one that the settings name for its domain, or the host's resolver.
final class ServerDirectory: Sendable {
    /// The settings that name a server.
    private let settings: [DomainSettings]
    private let exchange: any DNSExchange
    /// The addresses of servers that are configured by name.
    private let known = Locked<[ServerName: [ServerAddress]]>([:])

    init(_ settings: [DomainSettings], exchange: any DNSExchange) {
        self.settings = settings.filter { $0.server != nil }
        self.exchange = exchange
    }

    func ask(_ question: Question) async -> (reading: AnswerReading, failure: DNSFailure?) {
        let server = settings.covering(question.name)?.server
        do throws(DNSFailure) {
            let target: DNSTarget =
                if let server { .servers(try await addresses(of: server)) } else { .resolver }
            let reading = AnswerReading(try await exchange.ask(question, of: target), to: question)
            if let server, case .failure = reading.outcome { forget(server) }
            return (reading, nil)
        } catch {
            if let server { forget(server) }
            return (AnswerReading(failure: error), error)
        }
    }

    /// Looks for a server again before the next question, for it may have moved.
    private func forget(_ server: ServerName) { known.withLock { $0[server] = nil } }

    private func addresses(of server: ServerName) async throws(DNSFailure) -> [ServerAddress] {
        if let known = known.withLock({ $0[server] }) { return known }
        let found = try await exchange.addresses(of: server)
        guard !found.isEmpty else { throw .silent("the DNS server \(server) has no address") }
        known.withLock { $0[server] = found }
        return found
    }
}

import DNSMessage
import DNSSD
import DiscoverySystem

/// Chooses the server to ask about a name: the one that the settings name for its domain, or the host's resolver.
final class ServerDirectory: Sendable {
    /// The settings that name a server.
    private let settings: [DomainSettings]
    private let exchange: any DNSExchange
    /// The addresses of servers that are configured by name, and whether a question failed there since they were looked up.
    private let known = Locked<[ServerName: (addresses: [ServerAddress], isDoubted: Bool)]>([:])

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
            if let server, case .failure = reading.outcome { doubt(server) }
            return (reading, nil)
        } catch {
            if let server { doubt(server) }
            return (AnswerReading(failure: error), error)
        }
    }

    /// Looks for a server again before the next question, for it may have moved.
    private func doubt(_ server: ServerName) { known.withLock { $0[server]?.isDoubted = true } }

    private func addresses(of server: ServerName) async throws(DNSFailure) -> [ServerAddress] {
        let old = known.withLock { $0[server] }
        if let old, !old.isDoubted { return old.addresses }
        var failure = DNSFailure.silent("the DNS server \(server) has no address")
        do throws(DNSFailure) {
            let found = try await exchange.addresses(of: server)
            if !found.isEmpty {
                known.withLock { $0[server] = (found, false) }
                return found
            }
        } catch {
            failure = error
        }
        // The resolver may be the one that fails: the server is asked where it was.
        guard let old else { throw failure }
        known.withLock { $0[server]?.isDoubted = false }
        return old.addresses
    }
}

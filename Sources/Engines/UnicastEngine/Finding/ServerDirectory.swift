import DNSMessage
import DNSSD
import DiscoverySystem

/// Chooses the server to ask about a name: the one that the settings name for its domain, or the host's resolver.
final class ServerDirectory: Sendable {
    private let servers: [(domain: DomainName, server: ServerName)]
    private let exchange: any DNSExchange
    /// The addresses of servers that are configured by name.
    private let addresses = Locked<[HostName: [IPAddress]]>([:])

    init(_ settings: [DomainSettings], exchange: any DNSExchange) {
        servers = settings.compactMap { setting in
            guard let server = setting.server, let name = try? DomainName(labels: setting.domain.labels) else {
                return nil
            }
            return (name, server)
        }
        self.exchange = exchange
    }

    func ask(_ question: Question) async -> (reading: AnswerReading, failure: DNSFailure?) {
        let server = server(for: question.name)
        do throws(DNSFailure) {
            let target: DNSTarget =
                if let server { .servers(try await addresses(of: server)) } else { .resolver }
            return (AnswerReading(try await exchange.ask(question, of: target), to: question), nil)
        } catch {
            // The server may have moved.
            if case .name(let host) = server?.host { addresses.withLock { $0[host] = nil } }
            return (AnswerReading(failure: error), error)
        }
    }

    /// Returns the server of the longest configured domain that contains the name.
    private func server(for name: DomainName) -> ServerName? {
        servers.filter { name.isWithin($0.domain) }.max { $0.domain.wire.count < $1.domain.wire.count }?.server
    }

    private func addresses(of server: ServerName) async throws(DNSFailure) -> [ServerAddress] {
        switch server.host {
        case .address(let address): return [ServerAddress(address, port: server.port)]
        case .name(let host):
            if let known = addresses.withLock({ $0[host] }) {
                return known.map { ServerAddress($0, port: server.port) }
            }
            let found = try await lookUp(host)
            guard !found.isEmpty else { throw .silent("the DNS server \(host) has no address") }
            addresses.withLock { $0[host] = found }
            return found.map { ServerAddress($0, port: server.port) }
        }
    }

    private func lookUp(_ host: HostName) async throws(DNSFailure) -> [IPAddress] {
        guard let name = try? DomainName(labels: (try? Domain(host.text))?.labels ?? []), name != .root else {
            return []
        }
        var found: [IPAddress] = []
        for type in [RecordType.a, .aaaa] {
            let question = Question(name, type)
            let answer: DNSAnswer
            do throws(DNSFailure) {
                answer = try await exchange.ask(question, of: .resolver)
            } catch {
                // One family is enough.
                guard found.isEmpty else { return found }
                throw error
            }
            guard case .records(let records, _) = AnswerReading(answer, to: question).outcome else { continue }
            found += records.compactMap { IPAddress($0, scope: 0) }
        }
        return found
    }
}

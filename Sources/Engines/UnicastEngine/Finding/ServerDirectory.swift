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

extension DNSExchange {
    /// Returns a server's addresses, looking up a host name with the host's resolver; empty if it has none.
    package func addresses(of server: ServerName) async throws(DNSFailure) -> [ServerAddress] {
        let addresses: [IPAddress]
        switch server.host {
        case .address(let address): addresses = [address]
        case .name(let host):
            guard let name = try? DomainName(labels: (try? Domain(host.text))?.labels ?? []), name != .root else {
                return []
            }
            addresses = try await self.addresses(of: name)
        }
        return addresses.map { ServerAddress($0, port: server.port) }
    }

    /// Returns a host's addresses by the host's resolver; empty if it has none.
    func addresses(of host: DomainName) async throws(DNSFailure) -> [IPAddress] {
        var found: [IPAddress] = []
        // Why the resolver cannot say which it has.
        var trouble: String?
        for type in [RecordType.a, .aaaa] {
            let question = Question(host, type)
            let answer: DNSAnswer
            do throws(DNSFailure) {
                answer = try await ask(question, of: .resolver)
            } catch {
                // One family is enough.
                guard found.isEmpty else { return found }
                throw error
            }
            switch AnswerReading(answer, to: question).outcome {
            case .records(let records, _): found += records.compactMap { IPAddress($0, scope: 0) }
            case .nothing: break
            case .failure(let reason): trouble = reason
            }
        }
        if found.isEmpty, let trouble { throw .silent(trouble) }
        return found
    }
}

#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import DiscoverdCommands
internal import UnicastEngine

/// Asks DNS servers for records of any type.
struct DomainLookup {
    private let client = DNSClient()
    private let settings: [DomainSettings]

    init(_ wish: DomainWish, _ notices: ProgramNotices) throws {
        settings = try ConfiguredDomains.settings(for: wish, ConfiguredDomains.definitions(notices), notices)
    }

    /// What the server of each name answers; nothing where there is no such name.
    /// - Throws: `.backendUnavailable` if a server does not answer, or fails.
    func records(_ questions: [Question]) async throws -> [ResourceRecord] {
        var records: [ResourceRecord] = []
        for question in questions {
            let target = try await target(for: question.name)
            do throws(DNSFailure) {
                let answer = try await client.ask(question, of: target)
                switch answer.message.responseCode {
                case ResponseCode.noError, ResponseCode.noSuchName: records += answer.message.answers
                case let code:
                    throw DNSFailure.silent("\(answer.server) says \(ResponseCode.name(of: code)) to \(question.name)")
                }
            } catch {
                throw error.asDiscoveryError
            }
        }
        return records
    }

    private func target(for name: DomainName) async throws -> DNSTarget {
        let server = settings.filter { setting in
            (try? DomainName(labels: setting.domain.labels)).map { name.isWithin($0) } ?? false
        }.max { $0.domain.labels.count < $1.domain.labels.count }?.server
        guard let server else { return .resolver }
        return .servers(try await ZoneFinder(exchange: client).addresses(of: server))
    }
}

extension DNSFailure {
    fileprivate var asDiscoveryError: DiscoveryError {
        switch self {
        case .silent(let reason): DiscoveryError(.backendUnavailable, reason)
        case .system(let reason): DiscoveryError(.systemRefused, reason)
        case .impossible(let reason): DiscoveryError(.backendFailed, reason)
        }
    }
}
#endif

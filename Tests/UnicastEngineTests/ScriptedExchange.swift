import DNSMessage
import DNSSD
import DiscoverySystem

@testable import UnicastEngine

/// A `ScriptedZone` behind messages: what a publisher's sockets would carry.
final class ScriptedExchange: DNSExchange {
    struct State {
        var zone = ScriptedZone()
        var isSilent = false
        /// The key that updates must be signed with; nil: any.
        var key: TSIGKey?
        /// The servers that do not serve the zone any more.
        var foreign: Set<ServerAddress> = []
        var asked: [Question] = []
        var updates = 0
    }

    let state = Locked(State())

    func ask(_ question: Question, of whom: DNSTarget) async throws(DNSFailure) -> DNSAnswer {
        let records: [RecordData]? = state.withLock { state in
            state.asked.append(question)
            guard !state.isSilent else { return nil }
            return Array(state.zone.records[.init(name: question.name, type: question.type)] ?? [])
        }
        guard let records else { throw .silent("switched off") }
        var message = Message(flags: [.response, .authoritative])
        message.answers = records.map { ResourceRecord(question.name, question.type, $0, ttl: 60) }
        return DNSAnswer(message: message, server: try Self.server)
    }

    func update(
        _ update: Message, at server: ServerAddress, key: TSIGKey?
    ) async throws(DNSFailure) -> UpdateAnswer {
        let answer: UpdateAnswer? = state.withLock { state in
            state.updates += 1
            guard !state.isSilent else { return nil }
            guard !state.foreign.contains(server) else { return UpdateAnswer(responseCode: 9) }
            guard state.key == nil || state.key == key else {
                return UpdateAnswer(responseCode: 9, signatureError: 17, isTrusted: false)
            }
            switch state.zone.carryOut(update.answers, update.authorities) {
            case .done: return UpdateAnswer(responseCode: 0)
            case .nameInUse: return UpdateAnswer(responseCode: 6)
            case .recordsExist: return UpdateAnswer(responseCode: 7)
            case .notAsRequired: return UpdateAnswer(responseCode: 8)
            case .refused: return UpdateAnswer(responseCode: 5)
            case .serverFailed, .unheard: return UpdateAnswer(responseCode: 2)
            }
        }
        guard let answer else { throw .silent("switched off") }
        return answer
    }

    /// Where it is said to be.
    static var server: ServerAddress {
        get throws(DNSFailure) {
            guard let port = Port(rawValue: 53) else { throw .impossible("no port") }
            return ServerAddress(.v4(IPv4Address(bits: 0x0A35_0035)), port: port)
        }
    }
}

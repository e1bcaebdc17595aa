import DNSMessage
import DNSSD

extension ZoneReply {
    /// What a server's answer to a question means; only the zone's own server is believed.
    init(_ answer: Message, to question: Question, from place: ZoneLocation) {
        let server = place.server.address
        switch answer.responseCode {
        case ResponseCode.noError, ResponseCode.noSuchName:
            guard answer.flags.contains(.authoritative) else {
                self = .outcome(
                    .refused(.init(.misconfigured, "\(server) is a resolver rather than the server of \(place.zone)")))
                return
            }
            let matching = answer.answers.filter { $0.name == question.name && $0.type == question.type }
            self = .records(matching.map(\.data))
        case ResponseCode.serverFailure: self = .outcome(.serverFailed)
        case let code:
            self = .outcome(
                .refused(.init(.misconfigured, "the server \(server) does not serve \(place.zone) (error \(code))")))
        }
    }
}

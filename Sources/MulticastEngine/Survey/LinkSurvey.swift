import DNSMessage
import DNSSD
import DiscoverySystem
import WireNames

/// Asks all links of this machine who claims which name, for a while.
package enum LinkSurvey {
    /// How long it takes: who wants to answer has answered, and whoever announces has announced.
    private static let time = Duration.milliseconds(2500)

    /// Asks and listens; blocks.
    /// - Returns: nil where there is no link, or its port is not shared.
    package static func run() -> NameSurvey? {
        let wantsTTL255 = ResponderSettings.current.checksTTL
        let sockets = SystemInterfaces.usable(by: .all).filter { !$0.interface.isLoopback }.flatMap {
            interface, families in
            families.flatMap { SurveySocket.open(on: interface, $0, wantsTTL255: wantsTTL255) }
        }
        guard !sockets.isEmpty else { return nil }
        let own = InterfaceAddress.all()?.compactMap { $0.address?.withoutScope } ?? []
        var survey = NameSurvey(own: Set(own))
        let first = survey.begin()
        for socket in sockets { socket.ask(first) }
        var reader = SurveyReader(sockets)
        var isRepeated = false
        while !reader.isFull {
            let passed = reader.passed
            guard passed < time else { break }
            // A packet may be lost.
            if !isRepeated, passed > time / 2 {
                isRepeated = true
                for socket in sockets { socket.ask(first) }
            }
            reader.read(within: (isRepeated ? time : time / 2) - passed) { datagram, socket, _ in
                guard let heard = HeardMessage(datagram.bytes) else { return }
                let questions = survey.received(heard.message, from: .init(datagram.sender, on: socket.interface))
                for other in sockets where !questions.isEmpty { other.ask(questions) }
            }
        }
        return survey
    }
}

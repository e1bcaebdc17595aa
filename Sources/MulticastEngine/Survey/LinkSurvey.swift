import DNSMessage
import DNSSD
import DiscoverySystem
import Libc
import WireNames

/// Asks all links of this machine who claims which name, for a while.
package enum LinkSurvey {
    /// How long it takes: who wants to answer has answered, and whoever announces has announced.
    private static let time: Int64 = 2_500_000  // µs
    /// The most packets that are read.
    private static let mostPackets = 20_000

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
        let start = MonotonicTime.now.microseconds
        var isRepeated = false
        var polled = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var count = 0
        while count < mostPackets {
            let passed = MonotonicTime.now.microseconds - start
            guard passed < time else { break }
            // A packet may be lost.
            if !isRepeated, passed > time / 2 {
                isRepeated = true
                for socket in sockets { socket.ask(first) }
            }
            let left = isRepeated ? time - passed : time / 2 - passed
            let ready = unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: left / 1000 + 1))
            guard ready > 0 else { continue }
            for (socket, polled) in zip(sockets, polled) where polled.revents != 0 {
                for datagram in socket.receive() {
                    count += 1
                    guard let message = try? Message(reading: datagram.bytes) else { continue }
                    let questions = survey.received(message, from: .init(datagram.sender, on: socket.interface))
                    for other in sockets where !questions.isEmpty { other.ask(questions) }
                }
            }
        }
        return survey
    }
}

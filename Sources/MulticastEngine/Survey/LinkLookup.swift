package import DNSMessage
package import DNSSD
import Discovery
import DiscoverySystem

/// Asks the links of this machine for records; see `RecordLookup`.
package enum LinkLookup {
    /// Asks and listens; blocks.
    /// - Parameters:
    ///   - questions: what to ask, 256 questions at most.
    ///   - interfaces: the links to ask. The loopback interface is asked where there is no other.
    ///   - family: over which family; nil for both.
    ///   - wantsTTL: the records' real TTLs are wanted.
    ///   - limit: how long.
    ///   - isOver: returns whether no answer is wanted any more.
    /// - Returns: what was heard; nil where there is no link.
    package static func run(
        _ questions: [Question], on interfaces: InterfaceFilter, over family: IPAddress.Family?, wantsTTL: Bool,
        within limit: Duration, until isOver: () -> Bool = { false }
    ) -> [RecordLookup.Found]? {
        let sockets = open(on: interfaces, over: family)
        guard sockets.contains(where: \.asks) else { return nil }
        let neighbours = AddressBlock.all()
        var lookup = RecordLookup(questions, wantsTTL: wantsTTL && sockets.contains { !$0.asks })
        var reader = SurveyReader(sockets)
        while !reader.isFull, !isOver() {
            let now = reader.passed
            guard now < limit, !lookup.isOver(at: now) else { break }
            let packets = lookup.packets(at: now)
            for socket in sockets where !socket.isOwn {
                for packet in packets where packet.isShared != socket.asks { socket.send(packet.bytes) }
            }
            let wait = min(SurveyReader.longestWait, limit - now, (lookup.deadline(after: now) ?? limit) - now)
            reader.read(within: wait) { datagram, socket, heard in
                // RFC 6762 §11: a unicast answer counts only if its source is on this link.
                let isNear = neighbours[socket.interface]?.contains { $0.block.contains(datagram.sender) } ?? false
                guard !socket.asks || isNear, let read = HeardMessage(datagram.bytes) else { return }
                lookup.received(read.message, as: socket.asks ? .answer : .multicast, on: socket.interface, at: heard)
            }
        }
        return lookup.found
    }

    private static func open(on interfaces: InterfaceFilter, over family: IPAddress.Family?) -> [SurveySocket] {
        let wantsTTL255 = ResponderSettings.current.checksTTL
        let usable = SystemInterfaces.usable(by: interfaces)
        let others = usable.filter { !$0.interface.isLoopback }
        return (others.isEmpty ? usable : others).flatMap { interface, families in
            families.filter { family == nil || $0 == family }
                .flatMap { SurveySocket.open(on: interface, $0, wantsTTL255: wantsTTL255) }
        }
    }
}

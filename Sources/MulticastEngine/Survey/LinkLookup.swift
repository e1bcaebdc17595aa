package import DNSMessage
package import DNSSD
import Discovery
import DiscoverySystem
import Libc

/// Asks the links of this machine for records; see `RecordLookup`.
package enum LinkLookup {
    /// The most packets that are read.
    private static let mostPackets = 20_000
    /// How often a caller's wish to end is looked at.
    private static let longestWait = Duration.milliseconds(100)

    /// Asks and listens; blocks.
    /// - Parameters:
    ///   - questions: what to ask, 256 questions at most.
    ///   - interfaces: the links to ask. The loopback interface is asked where there is no other.
    ///   - family: over which family; nil for both.
    ///   - limit: how long.
    ///   - isOver: returns whether no answer is wanted any more.
    /// - Returns: what was heard; nil where there is no link.
    package static func run(
        _ questions: [Question], on interfaces: InterfaceFilter, over family: IPAddress.Family?, within limit: Duration,
        until isOver: () -> Bool = { false }
    ) -> [RecordLookup.Found]? {
        let sockets = open(on: interfaces, over: family)
        guard sockets.contains(where: \.asks) else { return nil }
        let neighbours = blocks()
        var lookup = RecordLookup(questions)
        let start = MonotonicTime.now.microseconds
        var polled = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var count = 0
        while count < mostPackets, !isOver() {
            let now = Duration.microseconds(MonotonicTime.now.microseconds - start)
            guard now < limit, !lookup.isOver(at: now) else { break }
            let packets = lookup.packets(at: now)
            for socket in sockets {
                for packet in packets where packet.isShared != socket.asks { socket.send(packet.bytes) }
            }
            let wait = min(longestWait, limit - now, (lookup.deadline(after: now) ?? limit) - now)
            // Less than a second.
            let milliseconds = wait.components.attoseconds / 1_000_000_000_000_000
            guard unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: milliseconds + 1)) > 0 else { continue }
            let heard = Duration.microseconds(MonotonicTime.now.microseconds - start)
            for (socket, polled) in zip(sockets, polled) where polled.revents != 0 {
                for datagram in socket.receive() {
                    count += 1
                    // RFC 6762 §11: a unicast answer counts only if its source is on this link.
                    let isNear = neighbours[socket.interface]?.contains { $0.contains(datagram.sender) } ?? false
                    guard !socket.asks || isNear, let message = try? Message(reading: datagram.bytes) else { continue }
                    lookup.received(message, as: socket.asks ? .answer : .multicast, on: socket.interface, at: heard)
                }
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

    private static func blocks() -> [NetworkInterface: [CIDR]] {
        var blocks: [NetworkInterface: [CIDR]] = [:]
        for item in InterfaceAddress.all() ?? [] {
            guard let address = item.address, let length = item.netmask?.leadingOneBits,
                let block = CIDR(containing: address, prefixLength: length)
            else { continue }
            blocks[item.interface, default: []].append(block)
        }
        return blocks
    }
}

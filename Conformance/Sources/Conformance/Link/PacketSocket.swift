import CPacket
import DNSSD

/// Real links, by all their frames. It answers for the simulated hosts' hardware addresses.
package final class PacketSocket: Medium {
    private let sockets: [Int32]
    private var buffer = [UInt8](repeating: 0, count: 65_600)
    private var reassembly = Reassembly()
    private var id: UInt32 = 1

    /// The system refused something.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter interfaces: one for each link, at most eight.
    package init(on interfaces: [String]) throws(Failure) {
        var sockets: [Int32] = []
        for interface in interfaces {
            var hardware = [UInt8](repeating: 0, count: 6)
            let socket = unsafe cpacket_open(interface, &hardware)
            guard socket >= 0 else {
                throw Failure(
                    description: "cannot see the frames of \(interface): error \(-socket); it needs CAP_NET_RAW")
            }
            sockets.append(socket)
        }
        self.sockets = sockets
    }

    package var now: Double { Double(cpacket_now()) / 1e9 }

    package func send(_ packet: Packet) throws {
        id += 1
        for frame in Frames.make(packet, id: id) { try transmit(frame, on: packet.link) }
    }

    private func transmit(_ frame: [UInt8], on link: Int) throws {
        guard sockets.indices.contains(link) else { return }
        let result = unsafe cpacket_send(sockets[link], frame, Int32(frame.count))
        guard result == 0 else { throw Failure(description: "sending a frame failed: error \(-result)") }
    }

    package func next(until time: Double) throws -> Packet? {
        while true {
            let wait = max(0, min(time - now, 1000))
            var (at, link): (Int64, Int32) = (0, 0)
            let count = unsafe cpacket_receive(
                sockets, Int32(sockets.count), &buffer, Int32(buffer.count), Int32((wait * 1000).rounded(.up)), &at,
                &link)
            guard count >= 0 else { throw Failure(description: "the link is gone: error \(-count)") }
            if count > 0 {
                let frame = Array(buffer[..<Int(count)])
                if let answer = Frames.neighbour(frame, of: Station.all) { try transmit(answer, on: Int(link)) }
                if var packet = reassembly.take(frame, at: Double(at) / 1e9) {
                    packet.link = Int(link)
                    return packet
                }
            }
            if now >= time, count == 0 { return nil }
        }
    }
}

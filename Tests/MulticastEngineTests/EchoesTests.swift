import DNSSD
import Testing

@testable import MulticastEngine

@Suite struct EchoesTests {
    private static let link = NetworkInterface(index: 2, name: "eth0")
    private let packet: [UInt8] = Array(0..<64)
    private var echoes = Echoes()

    private mutating func take(
        _ packet: [UInt8], on link: NetworkInterface = link, over family: IPAddress.Family = .ipv4
    ) -> Bool {
        echoes.take(packet, on: link, over: family)
    }

    @Test mutating func eachPacketComesBackOnceOnItsLinkAndOverItsFamily() {
        for _ in 0..<2 { echoes.sent(packet, on: Self.link, over: .ipv4, at: .zero) }
        let others = [
            take(packet, over: .ipv6), take(packet, on: NetworkInterface(index: 3, name: "eth1")),
            take(packet.dropLast() + [0]),
        ]
        #expect(others == [false, false, false])
        let taken = [take(packet), take(packet), take(packet)]
        #expect(taken == [true, true, false])
    }

    @Test mutating func anEchoThatNeverComesIsNotAwaitedForever() {
        echoes.sent(packet, on: Self.link, over: .ipv4, at: .zero)
        echoes.sent([1], on: Self.link, over: .ipv4, at: .seconds(6))
        let taken = [take(packet), take([1])]
        #expect(taken == [false, true])
    }
}

import NIOCore
import NIOEmbedded
import Testing

@testable import DiscoveryNIO

@Suite("Changes of the system")
struct SystemChangesTests {
    @Test("those within the time are told once, at its end, and later ones again; without a time each at once")
    func gathering() throws {
        var told = 0
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(
            SystemChanges(gathering: SystemChanges.moment) { told += 1 })
        for round in 1...3 {
            for _ in 0..<5 { channel.pipeline.fireChannelReadComplete() }
            #expect(told == round - 1)
            channel.embeddedEventLoop.advanceTime(by: SystemChanges.moment)
            #expect(told == round)
        }

        var each = 0
        let other = EmbeddedChannel()
        try other.pipeline.syncOperations.addHandler(SystemChanges(gathering: nil) { each += 1 })
        for _ in 0..<5 { other.pipeline.fireChannelReadComplete() }
        #expect(each == 5)
    }
}

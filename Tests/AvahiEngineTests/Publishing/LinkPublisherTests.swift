import AvahiEngine
import DNSSD
import Discovery
import DiscoverySystem
import MulticastEngine
import Testing

@testable import HostEngine

/// Without this process, and whether avahi-daemon answers or not.
@Suite("Publishing on the link, where nobody says by what")
struct LinkPublisherTests {
    private func publisher() throws -> LinkPublisher {
        let avahi = try AvahiEngine()
        return LinkPublisher(avahi, nil, obstacle: nil, ends: avahi)
    }

    @Test("who watches may cancel from within a report")
    func cancelledFromWithin() async throws {
        let publisher = try publisher()
        let operation = Locked<(any EngineOperation)?>(nil)
        let returned = Gate()
        // A report comes on another thread, which waits for the lock until the operation is there.
        operation.withLock { stored in
            stored = publisher.watchState { _ in
                guard let watch = operation.withLock({ $0 }) else { return }
                watch.cancel()
                returned.open()
            }
        }
        try #require(await returned.wait(atMost: .seconds(10)))
        await publisher.shutdown()
    }

    @Test("what is published after the end fails, and says so")
    func afterTheEnd() async throws {
        let publisher = try publisher()
        await publisher.shutdown()
        let (facts, sink) = AsyncStream.makeStream(of: PublicationFact.self)
        let service = try OfferedService(name: "tony", type: "_http._tcp", port: 80)
        let operation = publisher.publish(service, onConflict: .rename, isPersistent: false) { fact in
            sink.yield(fact)
            sink.finish()
        }
        let error = DiscoveryError(.closed, "publishing on the link has ended")
        let fact = await withTimeLimit(.seconds(10)) {
            var iterator = facts.makeAsyncIterator()
            return await iterator.next()
        }
        #expect(fact == PublicationFact(name: service.name, state: .failed(error)))
        operation.cancel()
    }
}

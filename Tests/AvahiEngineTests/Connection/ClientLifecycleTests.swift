import DNSSD
import Testing

@testable import AvahiEngine

@Suite struct ClientLifecycleTests {
    private let gone = DiscoveryError(.backendUnavailable, "gone")

    @Test func connectsWhenSomethingIsWantedAndOnlyOnce() {
        var lifecycle = ClientLifecycle()
        #expect(lifecycle.wanted() == [.connect])
        #expect(lifecycle.wanted() == [])
    }

    @Test func isUpWhileTheHostNameIsRegisteredButDoesNotPublishYet() {
        var lifecycle = ClientLifecycle()
        _ = lifecycle.wanted()
        #expect(lifecycle.changed(to: .registering) == [.up, .publishing(false)])
        #expect(lifecycle.changed(to: .running) == [.publishing(true)])
        #expect(lifecycle.changed(to: .registering) == [.publishing(false)])
    }

    @Test func waitsForTheDaemonAndLooksAgainAfterTenSeconds() {
        var lifecycle = ClientLifecycle()
        _ = lifecycle.wanted()
        let waiting: [ClientLifecycle.Action] = [.down("avahi-daemon is not running"), .retry(after: .seconds(10))]
        #expect(lifecycle.changed(to: .connecting) == waiting)
        #expect(lifecycle.retryIsDue() == [.disconnect, .connect])
        #expect(lifecycle.changed(to: .connecting) == waiting)
        #expect(lifecycle.changed(to: .running) == [.up, .publishing(true)])
        #expect(lifecycle.retryIsDue() == [])
    }

    @Test func waitsLongerAfterEachFailureUpToASecond() {
        var lifecycle = ClientLifecycle()
        _ = lifecycle.wanted()
        var delays: [Duration] = []
        for _ in 0..<7 {
            for case .retry(let delay) in lifecycle.failed(gone) { delays.append(delay) }
            #expect(lifecycle.retryIsDue() == [.connect])
        }
        #expect(
            delays == [
                .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(1), .seconds(1), .seconds(1), .seconds(1),
            ])
    }

    @Test func tellsBeforeItDisconnectsSoThatNothingIsAskedOfADeadClient() {
        var lifecycle = ClientLifecycle()
        _ = lifecycle.wanted()
        _ = lifecycle.changed(to: .running)
        #expect(
            lifecycle.changed(to: .failed(gone)) == [.down("gone"), .disconnect, .retry(after: .milliseconds(250))])
    }

    @Test func aConnectionThatHeldMakesTheNextFailureANewOne() {
        var lifecycle = ClientLifecycle()
        _ = lifecycle.wanted()
        for _ in 0..<5 {
            _ = lifecycle.failed(gone)
            _ = lifecycle.retryIsDue()
        }
        _ = lifecycle.changed(to: .running)
        lifecycle.held()
        #expect(lifecycle.changed(to: .failed(gone)).contains(.retry(after: .milliseconds(250))))
    }

    @Test func doesNothingMoreWhenNothingIsWanted() {
        var lifecycle = ClientLifecycle()
        _ = lifecycle.wanted()
        _ = lifecycle.changed(to: .running)
        #expect(lifecycle.unwanted() == [.disconnect])
        #expect(lifecycle.unwanted() == [])
        #expect(lifecycle.failed(gone) == [])
        #expect(lifecycle.retryIsDue() == [])
        #expect(lifecycle.wanted() == [.connect])
    }
}

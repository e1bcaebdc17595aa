import DNSSD
import Discovery
import Testing

@testable import AvahiEngine

@Suite struct RegistrationTests {
    private let tony = ServiceName(observed: "tony")
    private let second = ServiceName(observed: "tony #2")
    private let taken = DiscoveryError(.nameTaken, "taken")

    private let stuck = Registration.Action.retry(after: .seconds(30))

    private func running(_ policy: ConflictPolicy = .rename) -> Registration {
        var registration = Registration(name: tony, policy: policy)
        _ = registration.publishing(true)
        return registration
    }

    private func fact(_ name: ServiceName, _ state: PublicationFact.State) -> Registration.Action {
        .report(PublicationFact(name: name, state: state))
    }

    @Test func registersWhenPublishingBecomesPossible() {
        var registration = Registration(name: tony, policy: .rename)
        #expect(
            registration.publishing(false) == [.reset, fact(tony, .waiting("the host's name is being registered"))])
        #expect(registration.publishing(false) == [])
        #expect(registration.publishing(true) == [fact(tony, .registering), stuck, .register(tony)])
        #expect(registration.changed(to: .registering) == [])
        #expect(registration.changed(to: .established) == [fact(tony, .established)])
    }

    @Test func takesTheNextNameInTheSameGroupAfterACollision() {
        var registration = running()
        let expected: [Registration.Action] = [.reset, fact(second, .registering), stuck, .register(second)]
        #expect(registration.changed(to: .collision) == expected)
        #expect(registration.changed(to: .established) == [fact(second, .established)])
    }

    @Test func takesTheNextNameWhenThisMachineAlreadyHasIt() {
        var registration = running()
        #expect(registration.failed(taken) == [.reset, fact(second, .registering), stuck, .register(second)])
    }

    @Test func givesUpAtACollisionWhenToldTo() {
        var registration = running(.fail)
        let actions = registration.changed(to: .collision)
        #expect(actions.last == .end)
        guard case .report(let fact) = actions.first, case .conflicted(let error) = fact.state else {
            Issue.record("\(actions)")
            return
        }
        #expect(error.code == .nameTaken)
        #expect(registration.publishing(true) == [])
        #expect(registration.changed(to: .established) == [])
    }

    @Test func triesAHundredNamesAtMost() {
        var registration = running()
        for _ in 0..<Registration.maximumRenames { #expect(!registration.failed(taken).contains(.end)) }
        #expect(registration.failed(taken).contains(.end))
    }

    @Test func staysWantedWhenTheBackendGoes() {
        var registration = running()
        _ = registration.changed(to: .collision)
        _ = registration.changed(to: .established)
        #expect(registration.disconnected("gone") == [fact(second, .waiting("gone"))])
        #expect(registration.publishing(true) == [fact(second, .registering), stuck, .register(second)])
    }

    @Test func withdrawsWhileTheHostIsRenamedAndComesBackUnderItsName() {
        var registration = running()
        _ = registration.changed(to: .established)
        #expect(registration.publishing(false).first == .reset)
        #expect(registration.publishing(true).last == .register(tony))
    }

    @Test func retriesLaterAndLaterWhenNoInterfaceMatches() {
        var registration = running()
        let none = DiscoveryError(.invalidInterface, "none")
        #expect(registration.failed(none) == [.reset, fact(tony, .waiting("none")), .retry(after: .seconds(1))])
        #expect(registration.retryIsDue() == [.reset, fact(tony, .registering), stuck, .register(tony)])
        #expect(registration.failed(none).last == .retry(after: .seconds(2)))
    }

    @Test func isPutToAvahiAgainWhenItIsStuckForThirtySeconds() {
        var registration = running()
        _ = registration.changed(to: .registering)
        #expect(registration.retryIsDue() == [.reset, stuck, .register(tony)])
        _ = registration.changed(to: .established)
        #expect(registration.retryIsDue() == [])
    }

    @Test func triesAgainAfterACallThatTimedOut() {
        var registration = running()
        let hung = DiscoveryError(.backendUnavailable, "hung")
        #expect(registration.failed(hung) == [.reset, fact(tony, .waiting("hung")), .retry(after: .seconds(1))])
    }

    @Test func anInterfaceThatComesEndsTheWaitForIt() {
        var registration = running()
        #expect(registration.interfacesChanged() == [])
        _ = registration.failed(DiscoveryError(.invalidInterface, "none"))
        #expect(registration.interfacesChanged() == [.reset, fact(tony, .registering), stuck, .register(tony)])
    }
}

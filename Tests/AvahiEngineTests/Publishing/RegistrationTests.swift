import DNSSD
import Discovery
import Testing

@testable import Records

@Suite struct RegistrationTests {
    private let tony = ServiceName(observed: "tony")
    private let second = ServiceName(observed: "tony #2")
    private let taken = DiscoveryError(.nameTaken, "taken")

    private let stuck = Registration.Action.retry(after: .seconds(30))

    private let start = Duration.seconds(1)
    private let offer: OfferedService

    init() throws { offer = try OfferedService(name: "tony", type: "_witap._tcp", port: 9000) }

    private func running(_ policy: ConflictPolicy = .rename, isPersistent: Bool = false) -> Registration {
        var registration = Registration(of: offer, policy: policy, isPersistent: isPersistent)
        _ = registration.publishing(true)
        return registration
    }

    private func fact(_ name: ServiceName, _ state: PublicationFact.State) -> Registration.Action {
        .report(PublicationFact(name: name, state: state))
    }

    @Test func registersWhenPublishingBecomesPossible() {
        var registration = Registration(of: offer, policy: .rename)
        #expect(
            registration.publishing(false) == [.reset, fact(tony, .waiting("the host's name is being registered"))])
        #expect(registration.publishing(false) == [])
        #expect(registration.publishing(true) == [fact(tony, .registering), stuck, .register(tony)])
        #expect(registration.changed(to: .registering, at: start) == [])
        let probed = start + .milliseconds(750)
        #expect(registration.changed(to: .established, at: probed) == [fact(tony, .established)])
    }

    @Test("what gave way to its host keeps its name, and is tried again: after 5 s, then after more")
    func gaveWay() {
        var registration = running(isPersistent: true)
        for delay in [5, 10, 20, 40, 60, 60] {
            _ = registration.changed(to: .registering, at: start)
            let actions = registration.gaveWay()
            #expect(actions.first == .reset && actions.last == .retry(after: .seconds(delay)), "\(actions)")
            #expect(registration.gaveWay().isEmpty)
            #expect(registration.retryIsDue().last == .register(tony))
        }
        _ = registration.changed(to: .established, at: start + .seconds(1))
        _ = registration.retryIsDue()
        #expect(registration.gaveWay().last == .retry(after: .seconds(5)))
    }

    @Test(
        "what is established before probing can be over is held back until then: avahi-daemon 0.9 says so of names that are denied"
    )
    func early() {
        let at = { (milliseconds: Int) in start + .milliseconds(milliseconds) }
        var denied = running(.fail)
        #expect(denied.changed(to: .registering, at: start) == [])
        #expect(denied.changed(to: .established, at: at(300)) == [.retry(after: .milliseconds(450))])
        let actions = denied.changed(to: .collision, at: at(301))
        #expect(actions.last == .end && actions.count == 2 && !actions.contains(fact(tony, .established)), "\(actions)")

        var renamed = running()
        _ = renamed.changed(to: .registering, at: start)
        _ = renamed.changed(to: .established, at: at(300))
        #expect(
            renamed.changed(to: .collision, at: at(301)) == [
                .reset, fact(second, .registering), stuck, .register(second),
            ])
        // The next name probes anew.
        _ = renamed.changed(to: .registering, at: at(1300))
        #expect(renamed.changed(to: .established, at: at(1400)) == [.retry(after: .milliseconds(650))])
        #expect(renamed.retryIsDue() == [fact(second, .established)])
        #expect(renamed.retryIsDue() == [])

        // It probes again, as after a change of its host's name.
        var again = running()
        _ = again.changed(to: .registering, at: start)
        _ = again.changed(to: .established, at: at(100))
        #expect(again.changed(to: .registering, at: at(200)) == [stuck])
        #expect(again.changed(to: .established, at: at(950)) == [fact(tony, .established)])
    }

    @Test("a host's name that is taken ends it, or is tried again by what lasts; the service keeps its name")
    func hostTaken() {
        var once = running()
        #expect(once.hostIsTaken(taken) == [fact(tony, .conflicted(taken)), .end])
        #expect(once.hostIsTaken(taken) == [])
        var lasting = running(isPersistent: true)
        #expect(
            lasting.hostIsTaken(taken) == [.reset, fact(tony, .refused(taken)), .retry(after: .seconds(1))])
        #expect(lasting.retryIsDue() == [.reset, stuck, .register(tony)])
    }

    @Test func takesTheNextNameInTheSameGroupAfterACollision() {
        var registration = running()
        let expected: [Registration.Action] = [.reset, fact(second, .registering), stuck, .register(second)]
        #expect(registration.changed(to: .collision, at: start) == expected)
        #expect(registration.changed(to: .established, at: start) == [fact(second, .established)])
    }

    @Test func takesTheNextNameWhenThisMachineAlreadyHasIt() {
        var registration = running()
        #expect(
            registration.failed(taken, at: start) == [.reset, fact(second, .registering), stuck, .register(second)])
    }

    @Test func givesUpAtACollisionWhenToldTo() {
        var registration = running(.fail)
        let actions = registration.changed(to: .collision, at: start)
        #expect(actions.last == .end)
        guard case .report(let fact) = actions.first, case .conflicted(let error) = fact.state else {
            Issue.record("\(actions)")
            return
        }
        #expect(error.code == .nameTaken)
        #expect(registration.publishing(true) == [])
        #expect(registration.changed(to: .established, at: start) == [])
    }

    @Test func triesAHundredNamesAtMost() {
        var registration = running()
        for _ in 0..<Registration.maximumRenames { #expect(!registration.failed(taken, at: start).contains(.end)) }
        #expect(registration.failed(taken, at: start).contains(.end))
    }

    @Test func staysWantedWhenTheBackendGoes() {
        var registration = running()
        _ = registration.changed(to: .collision, at: start)
        _ = registration.changed(to: .established, at: start)
        #expect(registration.disconnected("gone") == [fact(second, .waiting("gone"))])
        #expect(registration.publishing(true) == [fact(second, .registering), stuck, .register(second)])
    }

    @Test func withdrawsWhileTheHostIsRenamedAndComesBackUnderItsName() {
        var registration = running()
        _ = registration.changed(to: .established, at: start)
        #expect(registration.publishing(false).first == .reset)
        #expect(registration.publishing(true).last == .register(tony))
    }

    @Test func retriesLaterAndLaterWhenNoInterfaceMatches() {
        var registration = running()
        let none = DiscoveryError(.invalidInterface, "none")
        #expect(
            registration.failed(none, at: start) == [.reset, fact(tony, .waiting("none")), .retry(after: .seconds(1))])
        #expect(registration.retryIsDue() == [.reset, fact(tony, .registering), stuck, .register(tony)])
        #expect(registration.failed(none, at: start).last == .retry(after: .seconds(2)))
    }

    @Test func isPutToAvahiAgainWhenItIsStuckForThirtySeconds() {
        var registration = running()
        _ = registration.changed(to: .registering, at: start)
        let silence = DiscoveryError(.timedOut, "avahi-daemon has neither taken nor refused tony for 30 s")
        #expect(registration.retryIsDue() == [fact(tony, .refused(silence)), .reset, stuck, .register(tony)])
        #expect(registration.retryIsDue() == [.reset, stuck, .register(tony)])
        _ = registration.changed(to: .established, at: start)
        #expect(registration.retryIsDue() == [])
    }

    private let forbidden = DiscoveryError(.notPermitted, "forbidden")

    @Test func whatIsNewAndRefusedIsGivenUp() {
        var registration = running()
        #expect(registration.failed(forbidden, at: start) == [fact(tony, .failed(forbidden)), .end])
        #expect(registration.publishing(false) == [] && registration.retryIsDue() == [])
    }

    @Test(arguments: [false, true]) func whatWasTakenBeforeIsTriedAgain(_ isPersistent: Bool) {
        var registration = running(isPersistent: isPersistent)
        if !isPersistent {
            _ = registration.changed(to: .established, at: start)
            _ = registration.disconnected("restarted")
            _ = registration.publishing(true)
        }
        let refused = [.reset, fact(tony, .refused(forbidden)), .retry(after: .seconds(1))]
        #expect(registration.failed(forbidden, at: start) == refused)
        // Neither another try nor another refusal is news.
        for seconds in [2, 4, 8, 16, 32, 60, 60] {
            #expect(registration.retryIsDue() == [.reset, stuck, .register(tony)])
            #expect(registration.failed(forbidden, at: start) == [.reset, .retry(after: .seconds(seconds))])
        }
        // A new connection tries at once, without the pauses of the previous one.
        _ = registration.disconnected("restarted")
        #expect(registration.publishing(true) == [fact(tony, .registering), stuck, .register(tony)])
        #expect(registration.failed(forbidden, at: start) == refused)
        _ = registration.retryIsDue()
        #expect(registration.changed(to: .established, at: start) == [fact(tony, .established)])
    }

    @Test func aCallThatFailsTwiceIsARefusal() {
        var registration = running()
        let broken = DiscoveryError(.backendUnavailable, "nonsense")
        _ = registration.failed(broken, at: start)
        _ = registration.retryIsDue()
        #expect(registration.failed(broken, at: start).contains(fact(tony, .refused(broken))))
        #expect(!registration.retryIsDue().isEmpty)
    }

    @Test func aTakenNameThatIsToBeKeptIsTriedAgain() {
        var registration = running(.fail, isPersistent: true)
        let actions = registration.changed(to: .collision, at: start)
        #expect(actions.last == .retry(after: .seconds(1)) && actions.contains(.reset))
        #expect(registration.retryIsDue().last == .register(tony))
    }

    /// A host that answers every probe keeps a name off the network.
    @Test func namesThatAreDeniedForSixSecondsAreReported() {
        var registration = running()
        func isReported(_ actions: [Registration.Action]) -> DiscoveryError? {
            for case .report(let fact) in actions { if case .refused(let error) = fact.state { return error } }
            return nil
        }
        for second in 0..<6 {
            #expect(isReported(registration.changed(to: .collision, at: start + .seconds(second))) == nil)
        }
        let actions = registration.changed(to: .collision, at: start + .seconds(6))
        #expect(isReported(actions)?.code == .nameTaken)
        #expect(actions.last == .register(ServiceName(observed: "tony #8")), "it goes on")
        #expect(registration.changed(to: .established, at: start).count == 1)
        // A new series counts from its own start.
        #expect(isReported(registration.changed(to: .collision, at: start + .seconds(60))) == nil)
    }

    @Test func aHundredDeniedNamesAreNoEndOfWhatIsToBeKept() {
        var registration = running(isPersistent: true)
        for _ in 0..<Registration.maximumRenames { _ = registration.failed(taken, at: start) }
        #expect(registration.failed(taken, at: start).last == .retry(after: .seconds(60)))
        #expect(registration.retryIsDue().last == .register(tony))
    }

    @Test func whatWasTakenOutTellsNothing() {
        var registration = running()
        _ = registration.failed(DiscoveryError(.invalidInterface, "none"), at: start)
        #expect(registration.changed(to: .established, at: start) == [])
        #expect(registration.changed(to: .collision, at: start) == [])
    }

    @Test func triesAgainAfterACallThatTimedOut() {
        var registration = running()
        let hung = DiscoveryError(.backendUnavailable, "hung")
        #expect(
            registration.failed(hung, at: start) == [.reset, fact(tony, .waiting("hung")), .retry(after: .seconds(1))])
    }

    @Test func anInterfaceThatComesEndsTheWaitForIt() {
        var registration = running()
        #expect(registration.interfacesChanged() == [])
        _ = registration.failed(DiscoveryError(.invalidInterface, "none"), at: start)
        #expect(registration.interfacesChanged() == [.reset, fact(tony, .registering), stuck, .register(tony)])
    }
}

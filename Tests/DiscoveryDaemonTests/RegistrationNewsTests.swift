import Discovery
import DiscoveryControl
import Testing

@testable import DiscoveryDaemon

@Suite("a registration's log lines")
struct RegistrationNewsTests {
    private func status(_ state: RegistrationStatus.State, _ change: (inout RegistrationStatus) -> Void = { _ in })
        -> RegistrationStatus
    {
        var status = RegistrationStatus(
            id: "1", name: "web", wanted: "web", type: "_http._tcp", domain: "local", port: 80, state: state, uid: 0,
            origin: .configuration, check: "tcp", health: state == .withheld ? .failing : .passing)
        change(&status)
        return status
    }

    @Test func anAddressRecordIsNamedByItsAddresses() {
        let named = { (state: RegistrationStatus.State) in
            status(state) { ($0.wanted, $0.type, $0.addresses, $0.check) = ("printer.local", "", ["10.0.0.9"], nil) }
        }
        let news = RegistrationNews(from: named(.registering), to: named(.established))
        #expect(news?.text.hasPrefix(#""printer.local" (address 10.0.0.9) is published"#) == true)
    }

    @Test("withdrawn by its check, with the reason; back again; another reason is no warning")
    func health() throws {
        let fails = status(.withheld) { $0.reason = "its check fails: refused" }
        let withdrawn = try #require(RegistrationNews(from: status(.established), to: fails))
        #expect(withdrawn.level == .warning)
        #expect(withdrawn.text == #""web" (_http._tcp, port 80) is withdrawn: its check fails: refused"#)
        let other = status(.withheld) { $0.reason = "its check fails: no answer" }
        #expect(RegistrationNews(from: fails, to: other)?.level == .info)
        let back = try #require(RegistrationNews(from: other, to: status(.established)))
        #expect(back.level == .notice && back.text.hasSuffix("is published: its check passes"))
        #expect(RegistrationNews(from: fails, to: fails) == nil)
    }

    @Test("another name, a conflict, a port at which nothing listens; names are shown escaped")
    func others() throws {
        let renamed = status(.established) { $0.name = "web #2" }
        #expect(RegistrationNews(from: status(.registering), to: renamed)?.text.contains(#"as "web #2""#) == true)
        let taken = status(.conflicted) { $0.reason = "the name is taken" }
        #expect(RegistrationNews(from: status(.registering), to: taken)?.level == .error)
        let silent = status(.established) { $0.warning = "nothing listens" }
        #expect(RegistrationNews(from: status(.established), to: silent)?.level == .warning)
        #expect(RegistrationNews(from: silent, to: status(.established))?.level == .info)
        let hostile = status(.established) { ($0.name, $0.wanted) = ("\u{1B}[2J", "\u{1B}[2J") }
        #expect(RegistrationNews(from: status(.registering), to: hostile)?.text.contains("\u{1B}") == false)
    }

    @Test("what was tried again is told when it is withdrawn; what never came about is not")
    func triedAgain() {
        let refused = status(.waiting) { ($0.reason, $0.isRetrying) = ("too many", true) }
        #expect(RegistrationNews(from: refused, to: status(.withdrawn))?.text.hasSuffix("is withdrawn") == true)
        #expect(RegistrationNews(from: status(.registering), to: status(.withdrawn)) == nil)
    }

    @Test("registering again silently logs no new publication; after a report it does")
    func registeredAnew() {
        var told = ToldRegistration()
        let registering = status(.registering)
        let established = status(.established)
        #expect(told.news(from: registering, to: established)?.level == .notice)
        #expect(told.news(from: established, to: registering) == nil)
        #expect(told.news(from: registering, to: established) == nil)
        let waiting = status(.waiting) { $0.reason = "avahi-daemon stopped" }
        #expect(told.news(from: established, to: waiting)?.level == .info)
        #expect(told.news(from: waiting, to: registering) == nil)
        #expect(told.news(from: registering, to: established)?.level == .notice)
        #expect(told.news(from: established, to: registering) == nil)
        #expect(told.news(from: registering, to: status(.withdrawn))?.text.hasSuffix("is withdrawn") == true)
    }
}

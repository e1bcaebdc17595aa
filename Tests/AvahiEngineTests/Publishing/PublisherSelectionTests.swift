import AvahiEngine
import DNSSD
import DiscoverySystem
import Testing

@testable import HostEngine

@Suite("What publishes on the link, where nobody says it")
struct PublisherSelectionTests {
    private let gone = AvahiEngine.Readiness.down("avahi-daemon is not running")
    private let avahi = SystemResponder(name: "avahi-daemon", process: 7)
    private let resolved = SystemResponder(name: "systemd-resolve", process: 9)

    private func reason(_ selection: PublisherSelection) -> String? {
        if case .nobody(let reason) = selection.choice { reason } else { nil }
    }

    @Test("avahi-daemon where it answers, else this process, and avahi-daemon again when it comes and publishes")
    func goesOver() throws {
        var selection = PublisherSelection(obstacle: nil)
        #expect(selection.choice == .open)
        selection.avahiBecame(gone) { [] }
        #expect(selection.choice == .publisher(.wire))
        // It registers its host's name first, which may be taken.
        selection.avahiBecame(.answers) { [avahi] }
        #expect(selection.choice == .publisher(.wire))
        let host = try HostName("h1.local")
        selection.avahiBecame(.publishes(host)) { [avahi] }
        #expect(selection.choice == .publisher(.avahi) && selection.avahiHost == host)
        // It is still there while it says its goodbyes.
        selection.avahiBecame(gone) { [avahi] }
        #expect(selection.choice == .publisher(.wire))
        selection.look { [avahi] }
        #expect(selection.choice == .publisher(.wire))
    }

    @Test("one that only answers publishes from the start, and one that is silent for 2 s does not")
    func start() {
        var selection = PublisherSelection(obstacle: nil)
        selection.avahiBecame(.answers) { [] }
        #expect(selection.choice == .publisher(.avahi))
        selection = PublisherSelection(obstacle: nil)
        selection.look { [] }
        #expect(selection.choice == .publisher(.wire))
    }

    @Test("beside another responder nothing is published, until that is gone")
    func others() {
        var selection = PublisherSelection(obstacle: nil)
        selection.look { [avahi] }
        #expect(
            reason(selection)
                == "avahi-daemon (pid 7) publishes for this machine, but the system's avahi-daemon does not answer")
        selection.avahiBecame(gone) { [resolved] }
        #expect(reason(selection)?.hasPrefix("systemd-resolved (pid 9) answers") == true)
        selection.look { [resolved] }
        #expect(reason(selection) != nil)
        selection.look { [] }
        #expect(selection.choice == .publisher(.wire))
        // One that comes later is no reason to stop.
        selection.avahiBecame(.down("again")) { [resolved] }
        #expect(selection.choice == .publisher(.wire))
    }

    @Test("where this process cannot publish, both reasons are told")
    func obstacle() {
        var selection = PublisherSelection(obstacle: "the port is taken")
        selection.avahiBecame(gone) { [] }
        #expect(reason(selection) == "avahi-daemon is not running; the port is taken")
        selection.avahiBecame(.answers) { [] }
        #expect(selection.choice == .publisher(.avahi))
    }
}

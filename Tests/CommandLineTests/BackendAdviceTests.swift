#if Commands
import DiscoverySystem
import HostEngine
import Testing

@testable import DiscoverdCommands

@Suite("What to do where nothing publishes")
struct BackendAdviceTests {
    private func advice(_ publisher: PublisherChoice, _ responders: SystemResponder...) -> String {
        BackendAdvice.lines(for: publisher, responders: responders)[0]
    }

    @Test(
        "an avahi-daemon out of reach is restarted, another responder stopped, a missing one installed"
    )
    func advice() {
        let avahi = SystemResponder(name: "avahi-daemon", process: 7)
        let other = SystemResponder(name: "systemd-resolve", process: 9)
        for publisher in [PublisherChoice.auto, .avahi] {
            #expect(
                advice(publisher, other, avahi).hasPrefix("avahi-daemon (pid 7) runs and cannot be asked. Restart it"))
        }
        #expect(advice(.auto, other) == "Stop systemd-resolved (pid 9), or publish beside it: --avahi never.")
        #expect(advice(.avahi).hasPrefix("Install it (apt install avahi-daemon)"))
        #expect(advice(.wire, avahi).contains("doctor"))
    }
}
#endif

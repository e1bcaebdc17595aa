#if Commands
import DiscoverySystem
import Testing

@testable import DiscoverdCommands

@Suite("What to do where nothing publishes")
struct BackendAdviceTests {
    private func advice(_ use: AvahiUse, _ responders: SystemResponder...) -> String {
        BackendAdvice.lines(for: use, responders: responders)[0]
    }

    @Test(
        "an avahi-daemon out of reach is restarted, another responder stopped, a missing one installed"
    )
    func advice() {
        let avahi = SystemResponder(name: "avahi-daemon", process: 7)
        let other = SystemResponder(name: "systemd-resolve", process: 9)
        for use in [AvahiUse.auto, .always] {
            #expect(
                advice(use, other, avahi).hasPrefix("avahi-daemon (pid 7) runs and cannot be asked. Restart it"))
        }
        #expect(advice(.auto, other) == "Stop systemd-resolved (pid 9), or publish beside it: --avahi never.")
        #expect(advice(.always).hasPrefix("Install it (apt install avahi-daemon)"))
        #expect(advice(.never, avahi).contains("doctor"))
    }

    private func holder(_ process: Int32?, _ name: String?, user: UInt32 = 0) -> PortHolder {
        PortHolder(process: process, name: name, user: user, inode: UInt64(process ?? 0))
    }

    @Test("two stacks disturb each other beside an avahi-daemon alone; what hears the group alone is named, too")
    func responders() {
        let zeroconf = holder(7, "python3")
        let alone = ResponderCheck.findings(of: [zeroconf])
        #expect(alone.map(\.verdict) == [.ok] && alone[0].advice == nil && alone[0].text.contains("python3 (pid 7)"))
        let beside = ResponderCheck.findings(of: [holder(5, "avahi-daemon"), zeroconf])
        #expect(beside.map(\.verdict) == [.ok, .warn] && beside[1].advice?.contains("Two mDNS stacks") == true)
        let resolved = ResponderCheck.findings(of: [holder(9, "systemd-resolve")])
        #expect(resolved.map(\.verdict) == [.warn] && resolved[0].advice?.contains("MulticastDNS=no") == true)
        let group = ResponderCheck.findings(of: [], beside: [holder(3, "discoverd"), holder(nil, nil, user: 1000)])
        #expect(group.map(\.verdict) == [.ok, .ok, .ok])
        #expect(group[1].text.hasPrefix("discoverd (pid 3) finds or publishes"))
        #expect(group[2].text.hasPrefix("a process of user 1000 finds or publishes"))
        let many = ResponderCheck.findings(of: [], beside: (1...40).map { holder($0, "x") })
        #expect(many.count == 18 && many[17].text == "24 more processes do")
    }
}
#endif

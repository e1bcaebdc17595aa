#if Commands
import DiscoverySystem
import Testing

@testable import DiscoverdCommands

@Suite("What to do where nothing publishes")
struct BackendAdviceTests {
    @Test("an avahi-daemon that runs and does not answer is to be restarted; no private one is started beside it")
    func advice() {
        let avahi = PortHolder(process: 7, name: "avahi-daemon", user: 0, inode: 1)
        for canBePrivate in [true, false] {
            let lines = BackendAdvice.lines(
                canBePrivate: canBePrivate, isChosen: false, hung: avahi, holders: [avahi.description])
            #expect(
                lines[0] == "avahi-daemon (pid 7) runs and does not answer. Restart it: systemctl restart avahi-daemon."
            )
        }
        let other = BackendAdvice.lines(canBePrivate: true, isChosen: false, hung: nil, holders: ["chrome (pid 9)"])
        #expect(other[0].contains("or stop what has UDP port 5353: chrome (pid 9)"))
    }
}
#endif

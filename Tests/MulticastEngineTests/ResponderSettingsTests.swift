import MulticastEngine
import Testing

@Suite("What avahi-daemon's configuration says to others")
struct ResponderSettingsTests {
    @Test("nothing, unless it says so")
    func nothing() {
        for text in ["", "[server]\nuse-ipv4=yes\n", "#disallow-other-stacks=yes\n", "disallow-other-stacks=no"] {
            let settings = ResponderSettings(text)
            #expect(!settings.disallowsOthers && !settings.checksTTL, "\(text)")
        }
    }

    @Test("other stacks are not wanted, or packets that were forwarded; the last word counts")
    func said() {
        let settings = ResponderSettings("[server]\n disallow-other-stacks = yes\r\ncheck-response-ttl=YES\n")
        #expect(settings.disallowsOthers && settings.checksTTL)
        #expect(!settings.reflects && ResponderSettings("[reflector]\nenable-reflector=yes\n").reflects)
        for value in ["y", "Y", "1", "true", "T", "yep"] {
            #expect(ResponderSettings("check-response-ttl=\(value)").checksTTL, "\(value)")
        }
        for value in ["", "no", "on", "0", "n y"] {
            #expect(!ResponderSettings("check-response-ttl=\(value)").checksTTL, "\(value)")
        }
        for last in ["no", ""] {
            let text = "disallow-other-stacks=yes\ndisallow-other-stacks=\(last)\n"
            #expect(!ResponderSettings(text).disallowsOthers)
        }
    }
}

import DNSSD
import Testing

@testable import AvahiEngine

@Suite struct PrivateBackendConfigurationTests {
    private func configuration(
        host: String = "h1", interfaces: [String] = [], present: [String] = ["lo", "eth0", "eth1", "docker0"],
        user: UInt32 = 1000, owner: UInt32? = nil
    ) throws -> PrivateBackendConfiguration {
        PrivateBackendConfiguration(
            socket: "/run/user/1000/discoverd-x/bus", hostName: host,
            interfaces: interfaces.isEmpty ? .all : try InterfaceFilter(interfaces), present: present, user: user,
            group: user, owner: owner ?? user)
    }

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test func avahiIsKeptFromLoopbackReflectingAndWideArea() throws {
        let lines = lines(try configuration().avahi)
        #expect(lines.contains("deny-interfaces=lo"))
        #expect(!lines.contains { $0.hasPrefix("allow-interfaces") })
        #expect(lines.contains("enable-wide-area=no"))
        #expect(lines.contains("enable-reflector=no"))
        #expect(lines.contains("objects-per-client-max=16384"))
        #expect(lines.contains("cache-entries-max=32768"))
        #expect(lines.contains("entries-per-entry-group-max=1024"))
    }

    @Test func patternsBecomeListsOfTheInterfacesThatAreThere() throws {
        let taking = lines(try configuration(interfaces: ["eth*", "!eth1"]).avahi)
        #expect(taking.contains("allow-interfaces=eth0"))
        #expect(taking.contains("deny-interfaces=lo,docker0,eth1"))
        let leavingOut = lines(try configuration(interfaces: ["!docker*"]).avahi)
        #expect(!leavingOut.contains { $0.hasPrefix("allow-interfaces") })
        #expect(leavingOut.contains("deny-interfaces=lo,docker0"))
    }

    /// avahi-daemon takes an empty list as every interface.
    @Test func aPatternThatMatchesNothingAllowsNothing() throws {
        let lines = lines(try configuration(interfaces: ["wlan*"]).avahi)
        #expect(lines.contains("allow-interfaces=none-"))
    }

    /// The kernel allows these characters in an interface's name (dev_valid_name).
    @Test func anInterfaceNameDoesNotEndTheListOrTheLine() throws {
        let text = try configuration(interfaces: ["!*"], present: ["lo", "a,b", "c\u{1}d", "eth0"]).avahi
        #expect(lines(text).contains("deny-interfaces=lo,eth0"))
    }

    @Test(arguments: [
        ("h1", "h1"), ("h1.example.org", "h1"), ("Web-1", "Web-1"), ("", nil), ("-x", nil), ("x-", nil), ("a_b", nil),
        ("häuschen", nil), ("localhost", nil), ("a\nb", nil), (String(repeating: "a", count: 64), nil),
    ])
    func hostNameIsTheFirstLabelWhenItIsOne_RFC1123_2_1(_ name: String, _ label: String?) throws {
        #expect(try configuration(host: name).hostLabel == label)
        let server = lines(try configuration(host: name).avahi)
        #expect(server.filter { $0.hasPrefix("host-name") } == (label.map { ["host-name=\($0)"] } ?? []))
    }

    @Test func addressEscapesWhatDBusWouldReadAsItsOwn() {
        #expect(
            PrivateBackendConfiguration.address(ofSocket: "/tmp/a;b,c=d%e<f>/ü/x-1_2.3")
                == "unix:path=/tmp/a%3bb%2cc%3dd%25e%3cf%3e/%c3%bc/x-1_2.3")
    }

    @Test func busHasNoTypeAndNoRuleThatLetsOtherUsersIn() throws {
        let text = try configuration().dbus
        #expect(text.contains("<listen>unix:path=/run/user/1000/discoverd-x/bus</listen>"))
        #expect(!text.contains("<type>"))
        #expect(!text.contains("<allow user"))
    }

    /// By name, which the daemons' own passwd has: dbus-daemon lets in no one whom it cannot look up.
    @Test func rootMayConnectToABusThatRunsAsAnother() throws {
        let given = try configuration(user: 102, owner: 0)
        #expect(given.dbus.contains(#"<allow user="root"/>"#))
        #expect(lines(given.passwd) == ["root:x:0:0::/:/usr/sbin/nologin", "avahi:x:102:102::/:/usr/sbin/nologin"])
    }

    @Test func avahiIsTheUserWhoRunsIt() throws {
        let ordinary = try configuration(user: 1000)
        #expect(lines(ordinary.passwd).contains("avahi:x:1000:1000::/:/usr/sbin/nologin"))
        #expect(lines(ordinary.groups).contains("avahi:x:1000:"))
        let root = try configuration(user: 0)
        #expect(lines(root.passwd).contains("avahi:x:0:0::/:/usr/sbin/nologin"))
        #expect(lines(root.passwd).contains("root:x:0:0::/:/usr/sbin/nologin"))
    }
}

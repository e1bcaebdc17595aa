import DNSSD
import DiscoveryDaemon
import Testing
import UnicastEngine

@Suite struct ConfigurationChangeTests {
    private func definition(_ name: String, port: Int = 1) throws -> ServiceDefinition {
        ServiceDefinition(service: try OfferedService(name: name, type: "_aa._tcp", port: port))
    }

    @Test func whatStaysIsNotTouched() throws {
        var old = DaemonConfiguration()
        old.services = [try definition("a"), try definition("b"), try definition("c")]
        old.browse = [try ServiceType("_aa._tcp"), try ServiceType("_bb._tcp")]
        var new = old
        new.services = [try definition("d"), try definition("c", port: 2), try definition("a")]
        new.browse = [try ServiceType("_cc._tcp"), try ServiceType("_AA._tcp")]
        let change = ConfigurationChange(from: old, to: new)
        #expect(change.added == [try definition("d")])
        #expect(change.removed == [try definition("b")])
        #expect(change.changed.map(\.old) == [try definition("c")])
        #expect(change.changed.map(\.new) == [try definition("c", port: 2)])
        #expect(change.unchanged == [try definition("a")])
        #expect(change.browseAdded == [try ServiceType("_cc._tcp")])
        #expect(change.browseRemoved == [try ServiceType("_bb._tcp")])
        #expect(!change.isEmpty && change.needsRestart.isEmpty)
    }

    @Test func theSameIsNoChange() throws {
        var configuration = DaemonConfiguration()
        configuration.services = [try definition("a")]
        #expect(ConfigurationChange(from: configuration, to: configuration).isEmpty)
    }

    @Test func aCheckAloneIsAChange() throws {
        var old = DaemonConfiguration()
        old.services = [try definition("a")]
        var new = old
        new.services[0].check = try CheckSpecification("tcp")
        new.backend = .private
        let change = ConfigurationChange(from: old, to: new)
        #expect(change.changed.count == 1 && change.needsRestart == ["backend"])
    }

    @Test func anotherKeyFileNeedsNoRestartAndAnotherServerDoes() throws {
        let settings = DomainSettings(try Domain("home.example.org"))
        var old = DaemonConfiguration()
        old.domains = [DomainDefinition(settings, keyFile: "/a.key", place: "here")]
        var new = old
        new.domains[0].keyFile = "/b.key"
        #expect(ConfigurationChange(from: old, to: new).needsRestart.isEmpty)
        new.domains[0].keyFile = nil
        #expect(ConfigurationChange(from: old, to: new).needsRestart == ["domains"])
        new = old
        new.domains[0].settings.host = "h2"
        #expect(ConfigurationChange(from: old, to: new).needsRestart == ["domains"])
    }
}

import DNSSD
import DiscoveryControl
import DiscoverySystem
import Testing
import UnicastEngine

@testable import DiscoveryDaemon

@Suite struct ConfigurationChangeTests {
    private func definition(_ name: String, port: Int = 1) throws -> RegistrationRequest {
        RegistrationRequest(try OfferedService(name: name, type: "_aa._tcp", port: port))
    }

    @Test func whatStaysIsNotTouched() throws {
        var old = DaemonConfiguration()
        old.services = [try definition("a"), try definition("b"), try definition("c")]
        var new = old
        new.services = [try definition("d"), try definition("c", port: 2), try definition("a")]
        let change = ConfigurationChange(from: old, to: new)
        #expect(change.added == [try definition("d")])
        #expect(change.removed == [try definition("b")])
        #expect(change.changed == [try definition("c", port: 2)])
        #expect(change.unchanged == [try definition("a")])
        #expect(change.needsRestart.isEmpty)
    }

    @Test func theSameIsNoChange() throws {
        var configuration = DaemonConfiguration()
        configuration.services = [try definition("a")]
        let change = ConfigurationChange(from: configuration, to: configuration)
        #expect(change.unchanged == configuration.services)
        #expect(change.added + change.changed + change.removed == [])
    }

    @Test func aCheckAloneIsAChange() throws {
        var old = DaemonConfiguration()
        old.services = [try definition("a")]
        var new = old
        new.services[0].check = RegistrationRequest.Check("tcp")
        new.avahi = .never
        new.labels = [.podman]
        new.access.labels.number = 1
        let change = ConfigurationChange(from: old, to: new)
        #expect(change.changed.count == 1 && change.needsRestart == ["avahi", "labels", "access: labels"])
    }

    @Test func whatTheStartHadCounts() {
        let first = DaemonConfiguration()
        var new = first
        new.nss = !first.nss
        new.limits.clients = 7
        // It was read before, and is no change of what was read last.
        #expect(ConfigurationChange(from: new, to: new, since: first).needsRestart == ["nss", "limits"])
        #expect(ConfigurationChange(from: new, to: first, since: first).needsRestart.isEmpty)
    }

    @Test func anotherKeyFileNeedsNoRestartAndAnotherServerDoes() throws {
        let settings = DomainSettings(try Domain("home.example.org"))
        var old = DaemonConfiguration()
        old.domains = [DomainDefinition(settings: settings, keyFile: "/a.key", place: "here")]
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

import Foundation
import Testing

extension FaultTests {
    @Suite("Faults of names")
    struct NameFaultTests {
        @Test("13: the same name on two hosts: the second is renamed, the first untouched")
        func takenOnTheNetwork() async throws {
            let lab = try await Lab.start(hosts: 3)
            var first = try lab.publish("tony", on: "h1")
            try await first.wait(forEstablished: ["tony"], within: .seconds(5))
            var browser = try lab.browse(on: "h3", "-r")
            try await browser.wait(for: "the first", within: .seconds(5)) { $0.names == ["tony"] }
            var second = try lab.publish("tony", on: "h2")
            let recovery = try await second.wait(forEstablished: ["tony #2"], within: .seconds(4))
            try await browser.wait(for: "both", within: .seconds(5)) { log in
                log.present["tony"]?.host == "h1.local" && log.present["tony #2"]?.host == "h2.local"
            }
            let refused = try lab.exec(
                "h2",
                [Built.discoverd, "publish", "tony", "9001", "--type", Lab.type, "--on-conflict", "fail"]
            )
            #expect(try await refused.exit(within: .seconds(5)) == .exited(73))
            try first.catchUp()
            try browser.catchUp()
            #expect(first.lines.count { $0.state == "established" } == 1 && first.established == ["tony"])
            #expect(browser.count("removed") == 0)
            Figures(
                scenario: "13",
                what: "the same name on two hosts",
                recovery: recovery,
                flaps: browser.count("removed"),
                note: "from the start of the command until it is `tony #2`"
            ).record()
            try await lab.stop()
        }

        @Test("14: the same name twice on one host", .onlyInAll)
        func takenOnThisHost() async throws {
            let lab = try await Lab.start(hosts: 1)
            var first = try lab.publish("tony", on: "h1")
            try await first.wait(forEstablished: ["tony"], within: .seconds(5))
            // A different record: Avahi takes two equal ones for one.
            var second = try lab.publish("tony", on: "h1", "--txt", "n=2")
            let recovery = try await second.wait(forEstablished: ["tony #2"], within: .seconds(3))
            var third = try lab.publish("tony", on: "h1", "--txt", "n=3")
            try await third.wait(forEstablished: ["tony #3"], within: .seconds(3))
            try first.catchUp()
            #expect(first.lines.count { $0.state == "established" } == 1 && first.established == ["tony"])
            Figures(scenario: "14", what: "the same name three times on one host", recovery: recovery).record()
            try await lab.stop()
        }

        @Test(
            "15: two hosts with one host name: both end with distinct names, every service resolves to the right one",
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon does it"))
        func hostNameTaken() async throws {
            let lab = try await Lab.start(hosts: 3)
            var first = try lab.publish(20, on: "h1", prefix: "a", port: 9001)
            try await first.wait(forEstablished: Lab.names(20, prefix: "a"), within: .seconds(10))
            var second = try lab.publish(20, on: "h2", prefix: "b", port: 9002)
            try await second.wait(forEstablished: Lab.names(20, prefix: "b"), within: .seconds(10))
            var browser = try lab.browse(on: "h3", "-r")
            let names = Lab.names(20, prefix: "a").union(Lab.names(20, prefix: "b"))
            try await browser.wait(for: "all", within: .seconds(10)) { $0.names == names }
            // From now on both call themselves h1.
            try await lab.avahi("h2", "kill")
            try await lab.avahi("h2", "start", environment: ["LAB_HOST_NAME": "h1"])
            let start = ContinuousClock.now
            try await second.wait(for: "the second's back", within: .seconds(10)) { log in
                log.established == Lab.names(20, prefix: "b")
                    && log.lines.suffix(20).allSatisfy { $0.state == "established" }
            }
            let recovery = start.duration(to: .now)
            try await browser.wait(for: "the right hosts", within: .seconds(20)) { log in
                log.names == names
                    && log.present.values.allSatisfy { service in
                        service.name.hasPrefix("a")
                            ? service.port == 9001 && service.addresses.contains("10.77.0.1")
                                && !service.addresses.contains("10.77.0.2")
                            : service.port == 9002 && service.addresses.contains("10.77.0.2")
                                && !service.addresses.contains("10.77.0.1")
                    }
                    && Set(log.present.values.map { $0.host ?? "" }) == ["h1.local", "h1-2.local"]
            }
            let hosts = Set(browser.present.values.map { "\($0.name.prefix(1)) \($0.host ?? "")" })
            #expect(hosts.count == 2)
            try first.catchUp()
            #expect(first.established == Lab.names(20, prefix: "a") && browser.count("removed") == 0)
            Figures(
                scenario: "15",
                what: "two hosts with one host name, 20 services each",
                recovery: recovery,
                flaps: browser.count("removed"),
                note: hosts.sorted().joined(separator: ", ")
            ).record()
            try await lab.stop()
        }

        @Test("15: two hosts that start with one host name at the same time", .onlyInAll)
        func hostNameTakenAtOnce() async throws {
            let lab = try await Lab.start(
                hosts: 3,
                "--no-avahi",
                "h1",
                "--no-avahi",
                "h2",
                // With both families, each avahi-daemon can win one and lose the other, and both then rename in step, endlessly.
                "--ipv4-only"
            )
            var first = try lab.publish(5, on: "h1", prefix: "a", port: 9001)
            var second = try lab.publish(5, on: "h2", prefix: "b", port: 9002)
            var browser = try lab.browse(on: "h3", "-r")
            async let one = lab.avahi("h1", "start", environment: ["LAB_HOST_NAME": "same"])
            async let other = lab.avahi("h2", "start", environment: ["LAB_HOST_NAME": "same"])
            _ = try await (one, other)
            let start = ContinuousClock.now
            try await first.wait(forEstablished: Lab.names(5, prefix: "a"), within: .seconds(15))
            try await second.wait(forEstablished: Lab.names(5, prefix: "b"), within: .seconds(15))
            try await browser.wait(for: "the right hosts", within: .seconds(20)) { log in
                let hosts = Dictionary(grouping: log.present.values) { $0.host ?? "" }
                return log.present.count == 10 && hosts.count == 2 && hosts.keys.allSatisfy { $0.hasPrefix("same") }
                    && log.present.values.allSatisfy { service in
                        let (own, others) =
                            service.port == 9001 ? ("10.77.0.1", "10.77.0.2") : ("10.77.0.2", "10.77.0.1")
                        return service.addresses.contains(own) && !service.addresses.contains(others)
                    }
            }
            Figures(
                scenario: "15",
                what: "two hosts start with one host name at once, 5 services each",
                recovery: start.duration(to: .now),
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test(
            "18: the host is renamed at run time: services stay and point to the new name",
            .enabled(if: !Lab.publishesOnWire, "avahi-daemon does it"))
        func hostRenamed() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(20)
            try await lab.run("h1", "avahi-set-host-name", "newname")
            let start = ContinuousClock.now
            try await browser.wait(for: "the new host", within: .seconds(10)) { log in
                log.names == names && log.present.values.allSatisfy { $0.host == "newname.local" }
            }
            let recovery = start.duration(to: .now)
            try await publications.wait(forEstablished: names, within: .seconds(5))
            try await lab.sentinel(&browser)
            #expect(!browser.lines.contains { $0.event == "removed" && $0.service?.name != "sentinel" })
            Figures(
                scenario: "18",
                what: "the host is renamed, 20 services",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }
    }
}

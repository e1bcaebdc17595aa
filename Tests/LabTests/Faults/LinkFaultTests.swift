import Foundation
import Testing

extension FaultTests {
    @Suite("Faults of links")
    struct LinkFaultTests {
        @Test("19: the publisher's interface down for 3 s: no end is told")
        func publisherDown() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(20)
            try await lab.run("h1", "ip", "link", "set", "eth0", "down")
            try await Task.sleep(for: .seconds(3))
            try await lab.run("h1", "ip", "link", "set", "eth0", "up")
            let start = ContinuousClock.now
            try await lab.sentinel(&browser)
            let recovery = start.duration(to: .now)
            try await Task.sleep(for: .seconds(4))
            try browser.catchUp()
            try publications.catchUp()
            #expect(browser.names.isSuperset(of: names) && publications.established == names)
            #expect(!browser.lines.contains { $0.event == "removed" && $0.service?.name != "sentinel" })
            Figures(
                scenario: "19",
                what: "publisher's interface down for 3 s, 20 services",
                recovery: recovery,
                note: "until a new service is seen"
            ).record()
            try await lab.stop()
        }

        @Test("20: the browser's interface down for 2 s and up: no line is printed", arguments: [true, false])
        func browserDown(resolve: Bool) async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(20, resolve: resolve)
            // Everything is announced again after a second (RFC 6762 §8.3); changes from that must be reported before.
            try await Task.sleep(for: .seconds(1))
            try browser.catchUp()
            let before = browser.lines.count
            try await lab.run("h2", "ip", "link", "set", "eth0", "down")
            try await Task.sleep(for: .seconds(2))
            try await lab.run("h2", "ip", "link", "set", "eth0", "up")
            // The longest that anything is held back.
            try await Task.sleep(for: .seconds(12))
            try browser.catchUp()
            #expect(browser.lines[before...].map(\.event) == [])
            #expect(browser.names == names)
            publications.process.closeInput()
            let end = try await browser.wait(for: "the real end", within: .milliseconds(4_500)) { $0.names.isEmpty }
            Figures(
                scenario: "20",
                what: "browser's interface down for 2 s, 20 services\(resolve ? ", resolved" : "")",
                flaps: browser.count("removed") - 20,
                note: "\(browser.count("updated")) updates; a real end afterwards is told after \(end.seconds)"
            ).record()
            try await lab.stop()
        }

        @Test("20: the browser's link loses its carrier for 3 s: no line is printed")
        func carrierLost() async throws {
            let lab = try await Lab.start()
            var (_, browser, names) = try await lab.published(20)
            // Everything is announced again after a second (RFC 6762 §8.3); changes from that must be reported before.
            try await Task.sleep(for: .seconds(1))
            try browser.catchUp()
            let before = browser.lines.count
            try await lab.run("sw", "ip", "link", "set", "p2", "down")
            try await Task.sleep(for: .seconds(3))
            try await lab.run("sw", "ip", "link", "set", "p2", "up")
            try await Task.sleep(for: .seconds(12))
            try browser.catchUp()
            #expect(browser.lines[before...].map(\.event) == [])
            #expect(browser.names == names)
            Figures(scenario: "20", what: "browser's carrier lost for 3 s, 20 services").record()
            try await lab.stop()
        }

        @Test("20: what came while the browser's carrier was lost is found when it is back")
        func cameMeanwhile() async throws {
            let lab = try await Lab.start()
            var (_, browser, _) = try await lab.published(1)
            // Its questions come 0, 1, 3, 9 and 27 s after the first (RFC 6762 §5.2): the last of these only would find it.
            try await Task.sleep(for: .seconds(9))
            try await lab.run("sw", "ip", "link", "set", "p2", "down")
            // Announced while no one hears it, and not again, as avahi-daemon does for some seconds.
            let service = #"{"services": [{"instance": "later", "type": "\#(Lab.type)", "addresses": ["10.77.0.1"]}]}"#
            let publisher = try await lab.inject("h1", service, ["--interval", "1000"])
            try await Task.sleep(for: .seconds(3))
            try await lab.run("sw", "ip", "link", "set", "p2", "up")
            let told = try await browser.wait(for: "it", within: .seconds(12)) { $0.names.contains("later") }
            Figures(
                scenario: "20", what: "published while the browser's carrier was lost for 3 s", recovery: told
            ).record()
            publisher.signal(SIGTERM)
            try await lab.stop()
        }

        @Test(
            "What the kernel dropped, for a browser that was slow, is asked for again",
            .enabled(if: Lab.isOnWire, "Avahi reads for it"))
        func dropped() async throws {
            let lab = try await Lab.start()
            var (_, browser, _) = try await lab.published(1)
            // After the fourth of its questions, as above: the next would come 18 s later.
            try await Task.sleep(for: .seconds(10))
            browser.process.signal(SIGSTOP)
            let flood = try lab.python(
                "h1", "crowd.py", "bare", "40000", "_flood._tcp", "--rate", "3000", "--times", "5")
            try await flood.line(within: .seconds(30)) { $0 == "done" }
            let service = #"{"services": [{"instance": "later", "type": "\#(Lab.type)", "addresses": ["10.77.0.1"]}]}"#
            let publisher = try await lab.inject("h1", service, ["--interval", "1000"])
            browser.process.signal(SIGCONT)
            let told = try await browser.wait(for: "it", within: .seconds(12)) { $0.names.contains("later") }
            Figures(
                scenario: "–", what: "published while a browser's buffer was full", recovery: told
            ).record()
            publisher.signal(SIGTERM)
            try await lab.stop()
        }

        @Test("20: an interface that stays down is an end after all")
        func browserStaysDown() async throws {
            let lab = try await Lab.start()
            var (_, browser, _) = try await lab.published(5)
            try await lab.run("h2", "ip", "link", "set", "eth0", "down")
            let told = try await browser.wait(for: "the end", within: .seconds(13)) { $0.names.isEmpty }
            #expect(told > .seconds(8))
            Figures(scenario: "20", what: "browser's interface stays down", note: "told after \(told.seconds)").record()
            try await lab.stop()
        }

        @Test("21: the publisher's address changes: told within 3 s, the old one with it")
        func addressChanged() async throws {
            let lab = try await Lab.start()
            var (_, browser, names) = try await lab.published(5)
            try await browser.wait(for: "the first", within: .seconds(3)) { log in
                log.present.values.allSatisfy { $0.addresses.contains("10.77.0.1") }
            }
            // A different prefix length; otherwise it would go with the first address.
            try await lab.run("h1", "ip", "addr", "add", "10.77.0.11/25", "dev", "eth0")
            try await lab.run("h1", "ip", "addr", "del", "10.77.0.1/24", "dev", "eth0")
            let start = ContinuousClock.now
            try await browser.wait(for: "the new one", within: .seconds(3)) { log in
                log.present.values.allSatisfy { $0.addresses.contains("10.77.0.11") }
            }
            let told = start.duration(to: .now)
            try await browser.wait(for: "the old one gone", within: .seconds(6)) { log in
                log.present.values.allSatisfy { !$0.addresses.contains("10.77.0.1") }
            }
            let gone = start.duration(to: .now)
            #expect(browser.names == names && browser.count("removed") == 0)
            Figures(
                scenario: "21",
                what: "publisher's address changes, 5 services",
                recovery: told,
                flaps: browser.count("removed"),
                note: "the old one is gone after \(gone.seconds)"
            ).record()
            try await lab.stop()
        }

        @Test("22: a second interface: one service, two interfaces; without it the service stays")
        func secondInterface() async throws {
            let lab = try await Lab.start()
            var publications = try lab.publish(5, on: "h1")
            let names = Lab.names(5)
            let options = ["browse", Lab.type, "--json", "-r", "--interface", "eth*"]
            var browser = BrowseLog(try lab.exec("h2", [Built.discoverd] + options + Lab.finder))
            try await publications.wait(forEstablished: names, within: .seconds(5))
            try await browser.wait(for: "seen", within: .seconds(5)) { $0.names == names }
            try await lab.lab("link", "h1", "eth1", "10.78.0.1/24")
            try await lab.lab("link", "h2", "eth1", "10.78.0.2/24")
            let start = ContinuousClock.now
            try await browser.wait(for: "both interfaces", within: .seconds(10)) { log in
                log.present.values.allSatisfy { $0.interfaces == ["eth0", "eth1"] }
            }
            let recovery = start.duration(to: .now)
            #expect(browser.names == names)
            #expect(browser.present.values.allSatisfy { $0.addresses.isSuperset(of: ["10.77.0.1", "10.78.0.1"]) })
            try await lab.lab("unlink", "h2", "eth1")
            try await browser.wait(for: "one interface", within: .seconds(13)) { log in
                log.present.values.allSatisfy { $0.interfaces == ["eth0"] }
            }
            #expect(browser.names == names && browser.count("removed") == 0 && browser.count("added") == 5)
            Figures(
                scenario: "22",
                what: "a second interface comes and goes, 5 services",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test("22: published with an interface pattern: a matching interface that comes later has it too")
        func patternAndLaterInterface() async throws {
            let lab = try await Lab.start()
            var later = try lab.publish(3, on: "h1", interfaces: ["eth1"])
            var both = try lab.publish(3, on: "h1", prefix: "b", interfaces: ["eth*"])
            try await later.wait(for: "waiting", within: .seconds(5)) { log in
                log.latest.count == 3 && log.latest.values.allSatisfy { $0.state == "waiting" }
            }
            try await both.wait(forEstablished: Lab.names(3, prefix: "b"), within: .seconds(5))
            let options = ["browse", Lab.type, "--json", "--interface", "eth*"]
            var browser = BrowseLog(try lab.exec("h2", [Built.discoverd] + options + Lab.finder))
            try await browser.wait(for: "eth0's", within: .seconds(5)) { $0.names == Lab.names(3, prefix: "b") }
            try await lab.lab("link", "h2", "eth1", "10.78.0.2/24")
            try await lab.lab("link", "h1", "eth1", "10.78.0.1/24")
            let recovery = try await later.wait(forEstablished: Lab.names(3), within: .seconds(5))
            try await browser.wait(for: "on eth1 too", within: .seconds(5)) { log in
                log.names == Lab.names(3).union(Lab.names(3, prefix: "b"))
                    && log.present.values.allSatisfy {
                        $0.interfaces == ($0.name.hasPrefix("b") ? ["eth0", "eth1"] : ["eth1"])
                    }
            }
            #expect(browser.count("removed") == 0)
            try await lab.lab("unlink", "h1", "eth1")
            try await later.wait(for: "waiting again", within: .seconds(5)) { log in
                log.latest.values.allSatisfy { $0.state == "waiting" }
            }
            try both.catchUp()
            // They are registered anew for what is left.
            try await both.wait(forEstablished: Lab.names(3, prefix: "b"), within: .seconds(5))
            Figures(
                scenario: "22",
                what: "published with --interface patterns, a matching interface comes later",
                recovery: recovery,
                flaps: browser.count("removed")
            ).record()
            try await lab.stop()
        }

        @Test(
            "24: IPv4 only, and no IPv4 address: 20 services, each can be dialled",
            arguments: ["--ipv4-only", "--link-local-only"])
        func oneFamily(option: String) async throws {
            let lab = try await Lab.start(hosts: 2, option)
            let listen =
                "import socket,sys;s=socket.create_server(('::',9000),family=socket.AF_INET6,dualstack_ipv6=True)"
                + ";print('up',flush=True)\nwhile 1: s.accept()[0].sendall(b'hello')"
            let server = try lab.exec("h1", "/usr/bin/python3", "-c", listen)
            try await server.line { $0 == "up" }
            let start = ContinuousClock.now
            let (_, browser, names) = try await lab.published(20)
            let recovery = start.duration(to: .now)
            #expect(browser.names == names)
            let addresses = browser.present.values.reduce(into: Set<String>()) { $0.formUnion($1.addresses) }
            #expect(addresses.count == 1)
            for address in addresses {
                #expect(address == "10.77.0.1" || (address.hasPrefix("fe80::") && address.hasSuffix("%eth0")))
                let dial = "import socket;print(socket.create_connection(('\(address)',9000),5).recv(9).decode())"
                #expect(try await lab.run("h2", "/usr/bin/python3", "-c", dial) == ["hello"])
            }
            Figures(scenario: "24", what: "\(option), 20 services found, resolved and dialled", recovery: recovery)
                .record()
            try await lab.stop()
        }

        @Test("26: 16 interfaces come and go 5 times: nothing grows, nothing is lost on the stable one", .onlyInAll)
        func manyInterfaces() async throws {
            let lab = try await Lab.start()
            var (publications, browser, names) = try await lab.published(10)
            let browse = [Built.discoverd, "browse", Lab.type, "--json", "-r"]
            let everywhere = try lab.exec("h2", browse + Lab.finder)
            var all = BrowseLog(everywhere)
            try await all.wait(for: "seen", within: .seconds(5)) { $0.names == names }
            let script = """
                for i in $(seq 16); do ip link add v$i type veth peer name w$i; ip addr add 10.80.$i.1/24 dev v$i
                ip link set v$i up; ip link set w$i up; done; sleep 0.5
                for i in $(seq 16); do ip link delete v$i; done; sleep 0.5
                """
            try await lab.run("h2", "sh", "-c", script)
            try await lab.run("h1", "sh", "-c", script)
            let before = (ProcessUsage(everywhere.pid), ProcessUsage(publications.process.pid))
            for _ in 0..<4 {
                try await lab.run("h2", "sh", "-c", script)
                try await lab.run("h1", "sh", "-c", script)
            }
            let after = (ProcessUsage(everywhere.pid), ProcessUsage(publications.process.pid))
            #expect(after.0.descriptors == before.0.descriptors && after.1.descriptors == before.1.descriptors)
            #expect(after.0.kilobytes < before.0.kilobytes + 2_048)
            #expect(after.1.kilobytes < before.1.kilobytes + 2_048)
            try await lab.sentinel(&browser)
            try all.catchUp()
            try publications.catchUp()
            #expect(
                browser.count("removed") == 0 && all.names.isSuperset(of: names) && publications.established == names)
            Figures(
                scenario: "26",
                what: "16 veths come and go 5 times on both hosts, 10 services",
                flaps: browser.count("removed"),
                note: "browse \(after.0.kilobytes - before.0.kilobytes) kB more, no descriptors"
            ).record()
            try await lab.stop()
        }
    }
}

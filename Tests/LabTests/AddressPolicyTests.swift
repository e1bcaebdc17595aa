import Foundation
import Testing

/// A hostile host announces addresses with a listener at each, so that every dial would succeed.
@Suite("Where services are dialled", .labSlot)
struct AddressPolicyTests {
    @Test("no SYN leaves for a cloud's credentials, allowed or not, though a listener is there and a route")
    func credentials() async throws {
        let lab = try await Lab.start(hosts: 3)
        let addresses = [
            "169.254.170.2", "169.254.169.254", "169.254.42.42", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe",
            "fd00:42::42", "fe80::a9fe:a9fe",
        ]
        for address in addresses {
            try await lab.run("h3", "ip", "address", "add", address, "dev", "eth0", "nodad")
            guard !address.hasPrefix("fe80") else { continue }
            try await lab.run("h2", "ip", "route", "add", address, "dev", "eth0")
        }
        let listener = try lab.exec("h3", "socat", "TCP6-LISTEN:9000,reuseaddr,fork,ipv6only=0", "SYSTEM:echo secret")
        let injector = try await announce(addresses, from: "h3", of: lab)
        try await countSYNs(lab)
        for (number, address) in addresses.enumerated() {
            for policy in [[], ["--allow", "0.0.0.0/0", "--allow", "::/0"]] {
                let run = try await lab.toEnd(
                    "h2",
                    [Built.discoverd, "connect", "evil\(number)", "--probe", "--timeout", "5"]
                        + policy,
                    within: .seconds(20))
                #expect(run.exit == .exited(77), "\(address): \(run)")
                #expect(run.errors.contains { $0.contains("metadata and credentials") }, "\(address): \(run.errors)")
                #expect(!run.errors.contains { $0.contains("--allow") }, "advice that cannot help: \(run.errors)")
            }
        }
        #expect(try await lab.run("h2", "nft", "list", "table", "inet", "t").contains { $0.contains("packets 0 ") })

        // Each can be dialled, and dials are counted.
        for address in addresses {
            let host = address.contains(":") ? "[\(address)\(address.hasPrefix("fe80") ? "%eth0" : "")]" : address
            let direct = try await lab.toEnd(
                "h2", ["socat", "-T2", "-u", "TCP:\(host):9000", "-"], within: .seconds(10))
            #expect(direct.output == ["secret"], "\(address): \(direct)")
        }
        #expect(try await lab.run("h2", "nft", "list", "table", "inet", "t").contains { $0.contains("packets 8 ") })
        for process in [listener, injector] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("hosts of another link and of a container bridge are not dialled for a host of this one; Prometheus neither")
    func otherLinks() async throws {
        let lab = try await Lab.start(hosts: 3)
        try await lab.lab("link", "h1", "eth1", "10.78.0.1/24")
        try await lab.lab("link", "h2", "eth1", "10.78.0.2/24")
        try await lab.run(
            "h2", "sh", "-ec",
            """
            ip link add docker0 type bridge; ip address add 172.17.0.1/16 dev docker0; ip link set docker0 up
            ip route add default via 10.77.0.1; ip route add 10.79.0.0/24 via 10.78.0.1
            """)
        let listener = try lab.exec("h1", "socat", "TCP4-LISTEN:9000,reuseaddr,fork", "SYSTEM:echo inside")
        let injector = try await announce(["10.78.0.1", "172.17.0.2", "10.79.0.9", "10.78.0.2"], from: "h3", of: lab)
        let daemon = try await LabDaemon.start(on: "h2", of: lab, "browse: [_witap._tcp]\n")
        _ = try await daemon.curl("/v1/services?type=_witap._tcp") { answer in
            try answer.objects("services").filter { $0["state"] as? String == "resolved" }.count == 4
        }
        #expect(try await daemon.curl("/v1/prometheus/sd?type=_witap._tcp").text == "[]")
        try await countSYNs(lab)
        for number in 0..<4 {
            for direct in [[], ["--no-daemon"]] {
                let run = try await lab.toEnd(
                    "h2",
                    [Built.discoverd, "connect", "evil\(number)", "--probe", "--timeout", "5"]
                        + direct,
                    within: .seconds(20))
                #expect(run.exit == .exited(77), "\(number): \(run)")
                #expect(run.errors.contains { $0.contains("--allow 1") && $0.contains("permits") }, "\(run.errors)")
            }
        }
        #expect(try await lab.run("h2", "nft", "list", "table", "inet", "t").contains { $0.contains("packets 0 ") })
        let allowed = try await lab.ask("h2", "connect", "evil0", "--probe", "--allow", "10.78.0.1")
        #expect(allowed.exit == .exited(0), "\(allowed)")

        // The same host, heard on its own link.
        let published = try await lab.avahiPublish("h1", "inside", "_witap._tcp", "9000")
        let heard = try await lab.ask("h2", "connect", "inside", "--probe", "--interface", "eth1", "-4")
        #expect(heard.exit == .exited(0), "\(heard)")
        for process in [listener, injector, published] { process.signal(SIGTERM) }
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a reflector between two VLANs: a service of the other one is dialled through the router")
    func reflector() async throws {
        let lab = try await Lab.start(hosts: 3)
        try await lab.lab("link", "h1", "eth1", "10.78.0.1/24")
        try await lab.lab("link", "h3", "eth1", "10.78.0.3/24")
        try await lab.run("h3", "ip", "link", "set", "eth0", "down")
        try await lab.run("h3", "ip", "route", "add", "default", "via", "10.78.0.1")
        try await lab.run("h2", "ip", "route", "add", "default", "via", "10.77.0.1")
        try await lab.run(
            "h1", "sh", "-ec",
            """
            echo 1 >/proc/sys/net/ipv4/ip_forward
            printf '[reflector]\\nenable-reflector=yes\\n' >/run/lab/avahi.server
            """)
        try await lab.avahi("h1", "restart")
        let listener = try lab.exec("h3", "socat", "TCP4-LISTEN:9000,reuseaddr,fork", "SYSTEM:echo there")
        let published = try await lab.avahiPublish("h3", "there", "_witap._tcp", "9000")
        let run = try await lab.ask("h2", "connect", "there", "--probe", "--report", "--json", "-4")
        #expect(run.exit == .exited(0), "\(run)")
        #expect(run.output.contains { $0.contains(#""endpoint":{"address":"10.78.0.3""#) }, "\(run.output)")
        for process in [listener, published] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    @Test("two interfaces on one subnet: a service is dialled whichever of them it was heard on")
    func oneSubnetTwice() async throws {
        let lab = try await Lab.start(hosts: 2)
        try await lab.lab("link", "h2", "eth1", "10.77.0.102/24")
        try await lab.run("sw", "ip", "link", "set", "h2-eth1", "master", "br0")
        let listener = try lab.exec("h1", "socat", "TCP4-LISTEN:9000,reuseaddr,fork", "SYSTEM:echo here")
        let published = try await lab.avahiPublish("h1", "here", "_witap._tcp", "9000")
        let route = try await lab.run("h2", "ip", "route", "get", "10.77.0.1")
        #expect(route.first?.contains(" dev eth0 ") == true, "the kernel takes one of them: \(route)")
        for interface in ["eth0", "eth1"] {
            let run = try await lab.ask(
                "h2", "connect", "here", "--probe", "-4", "--interface", interface)
            #expect(run.exit == .exited(0), "\(interface): \(run)")
        }
        for process in [listener, published] { process.signal(SIGTERM) }
        try await lab.stop()
    }

    /// Announces a service evil0, evil1, ... at each address, port 9000.
    private func announce(_ addresses: [String], from host: String, of lab: Lab) async throws -> LabProcess {
        let services = addresses.enumerated().map { number, address in
            """
            {"instance":"evil\(number)","type":"_witap._tcp","port":9000,"host":"evil\(number)",\
            "addresses":["\(address)"]}
            """
        }
        return try await lab.inject(host, #"{"services":[\#(services.joined(separator: ","))]}"#)
    }

    /// Counts the SYNs that h2 sends on any interface.
    private func countSYNs(_ lab: Lab) async throws {
        try await lab.nft("h2", ["type filter hook output priority 0;", "tcp flags & (syn | ack) == syn counter"])
    }
}

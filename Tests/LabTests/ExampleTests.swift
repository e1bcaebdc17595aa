import Foundation
import Testing

extension Lab {
    /// Starts a sample on a host. Its output is a pipe, which it would write to late.
    fileprivate func sample(_ host: String, _ name: String, _ arguments: String...) throws -> LabProcess {
        try exec(host, ["/usr/bin/stdbuf", "-oL", Built.program(name)] + arguments)
    }

    /// Runs a sample on a host until it ends.
    fileprivate func askSample(_ host: String, _ name: String, _ arguments: String...) async throws -> Run {
        try await toEnd(host, [Built.program(name)] + arguments, within: .seconds(30))
    }
}

@Suite("The samples of Examples/ between two hosts", .labSlot)
struct ExampleTests {
    @Test("publish and listen with SwiftNIO; browse and connect")
    func greeting() async throws {
        let lab = try await Lab.start()
        let server = try lab.sample("h1", "PublishWithNIO")
        try await server.line { $0 == "published as greeter" }
        let client = try await lab.askSample("h2", "BrowseAndConnect")
        #expect(client.exit == .exited(0), "\(client.errors)")
        #expect(client.output.prefix(2) == ["found greeter._greeting._tcp.local", "received Hello from SwiftNIO"])
        #expect(client.output.last?.hasPrefix("from ") == true)
        // It has greeted one caller: it says goodbye and ends.
        #expect(try await server.exit() == .exited(0))
        try await lab.stop()
    }

    @Test("the tutorial's steps before that")
    func tutorial() async throws {
        let lab = try await Lab.start()
        #expect(try await lab.askSample("h1", "TutorialServer1").exit == .exited(0))
        // A listener that is published; it ends at once, as its steps say.
        let second = try await lab.askSample("h1", "TutorialServer2")
        #expect(second.exit == .exited(0) && second.output == ["published as greeter"], "\(second)")
        let server = try lab.sample("h1", "PublishWithNIO")
        try await server.line { $0 == "published as greeter" }
        let found = "found greeter._greeting._tcp.local"
        let first = try await lab.askSample("h2", "TutorialClient1")
        #expect(first.exit == .exited(0) && first.output == [found], "\(first)")
        let client = try await lab.askSample("h2", "TutorialClient2")
        #expect(client.exit == .exited(0) && client.output.first == found && client.output.count == 2, "\(client)")
        server.signal(SIGKILL)
        try await lab.stop()
    }

    @Test("Hummingbird: published while it is healthy, asked by its name, goodbye at SIGTERM")
    func hummingbird() async throws {
        let lab = try await Lab.start()
        let browser = try lab.discoverd("h2", "browse", "_http._tcp", "--json")
        let shop = try lab.sample("h1", "HummingbirdShop")
        try await browser.json("published") { $0.event == "added" }
        let answer = try await lab.askSample("h2", "HTTPByName", "shop")
        #expect(answer.output == [#"200 Hello from Hummingbird\u{A}"#], "\(answer.errors)")

        let down = try await lab.askSample("h2", "HTTPByName", "shop", "/health/down")
        #expect(down.output.first?.hasPrefix("200") == true)
        try await browser.json("withdrawn") { $0.event == "removed" }
        try await lab.run("h1", "/usr/bin/curl", "-s", "http://127.0.0.1:8080/health/up")
        try await browser.json(within: .seconds(20), "published again") { $0.event == "added" }

        shop.signal(SIGTERM)
        #expect(try await shop.exit() == .exited(0), "\(shop.lines(.stderr))")
        try await browser.json("goodbye") { $0.event == "removed" }
        let missing = try await lab.askSample("h2", "HTTPByName", "shop")
        #expect(missing.output.first?.hasPrefix("error: ") == true)
        try await browser.stop()
        try await lab.stop()
    }

    @Test("ServiceGroup: a SwiftNIO server, published with its health, goodbye at SIGTERM")
    func group() async throws {
        let lab = try await Lab.start()
        let browser = try lab.discoverd("h2", "browse", "_echo._tcp", "--json")
        let server = try lab.sample("h1", "EchoGroup")
        try await browser.json("published") { $0.event == "added" }
        let echo = try await lab.bash("h2", "printf 'hello\n' | $discoverd connect echo _echo._tcp")
        #expect(echo.output == ["hello"], "\(echo.errors)")
        server.signal(SIGTERM)
        #expect(try await server.exit() == .exited(0), "\(server.lines(.stderr))")
        try await browser.json("goodbye") { $0.event == "removed" }
        try await browser.stop()
        try await lab.stop()
    }

    @Test("datagrams: the answer comes from the address that was asked; the client is told of its link")
    func datagrams() async throws {
        let lab = try await Lab.start()
        let extra = try await lab.bash("h1", "ip address add 10.77.0.91/24 dev eth0")
        #expect(extra.exit == .exited(0), "\(extra)")
        let server = try lab.sample("h1", "Datagrams", "serve")
        try await server.line { $0 == "published as quotes" }
        // A connected socket hears no other address. Addresses that come later have a socket, too.
        let ask = """
            import socket, sys
            for host in sys.argv[2:]:
                peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                peer.settimeout(1)
                peer.connect((host, int(sys.argv[1])))
                for attempt in range(10):
                    try:
                        peer.send(b"hello")
                        print(host, peer.recv(99).decode())
                        break
                    except (ConnectionRefusedError, socket.timeout):
                        pass
            """
        let found = try await lab.ask("h2", "resolve", "quotes", "_quote._udp", "--json")
        let port = try #require(found.output.first?.firstMatch(of: /"port":(\d+)/)?.1)
        let later = try await lab.bash("h1", "ip address add 10.77.0.92/24 dev eth0")
        #expect(later.exit == .exited(0), "\(later)")
        let hosts = ["10.77.0.1", "10.77.0.91", "10.77.0.92"]
        let answers = try await lab.toEnd(
            "h2", ["/usr/bin/python3", "-c", ask, String(port)] + hosts, within: .seconds(40))
        #expect(answers.output == hosts.map { "\($0) hello" }, "\(answers)")

        // A link-local address has one link, and none that is better.
        let four = try await lab.bash("h2", "echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6")
        #expect(four.exit == .exited(0), "\(four)")
        let client = try lab.sample("h2", "Datagrams")
        try await client.line { $0 == "a quote" }
        try await client.line { $0 == "by eth0" }
        for (state, told) in [("down", "not viable"), ("up", "by eth0")] {
            let link = try await lab.bash("h2", "ip link set eth0 \(state)")
            #expect(link.exit == .exited(0), "\(link)")
            try await client.line { $0 == told }
        }
        // A second link is no better of itself: the kernel's route decides, here for all three addresses.
        for (host, address) in [("h1", "10.79.0.1/24"), ("h2", "10.79.0.2/24")] {
            try await lab.lab("link", host, "eth1", address)
        }
        for (change, told) in [("add", "by eth0, better is there"), ("delete", "by eth0")] {
            let route = try await lab.bash("h2", "ip route \(change) 10.77.0.0/25 via 10.79.0.1 dev eth1")
            #expect(route.exit == .exited(0), "\(route)")
            try await client.line { $0 == told }
        }
        client.signal(SIGKILL)
        server.signal(SIGKILL)
        try await lab.stop()
    }

    @Test("gRPC by name")
    func grpc() async throws {
        let lab = try await Lab.start()
        let server = try lab.sample("h1", "GRPCGreeter")
        try await server.line { $0 == "published as greeter" }
        let answer = try await lab.askSample("h2", "GRPCByName")
        #expect(answer.exit == .exited(0), "\(answer.errors)")
        #expect(answer.output == ["Hello you, from gRPC"])
        server.signal(SIGKILL)
        try await lab.stop()
    }
}

import DNSMessage
import DNSSD
import Discovery
import LocalNames
import MulticastEngine
import Testing

/// Lines of libnss-mdns, and what they are answered.
@Suite("lines of libnss-mdns")
struct NSSRequestTests {
    private static func name(_ text: String) throws -> DomainName { try DomainName(presentation: text) }

    private static func read(_ line: String) -> NSSRequest { NSSRequest(Array(line.utf8)) }

    @Test("what it asks, names below local at any depth")
    func asked() throws {
        #expect(Self.read("RESOLVE-HOSTNAME-IPV4 h1.local") == .host(try Self.name("h1.local"), .ipv4))
        #expect(Self.read("RESOLVE-HOSTNAME-IPV6 wiki.H1.LOCAL.\r") == .host(try Self.name("wiki.h1.local"), .ipv6))
        #expect(Self.read("RESOLVE-HOSTNAME  h1.local") == .host(try Self.name("h1.local"), nil))
        let reverse = try Self.name("1.0.77.10.in-addr.arpa")
        #expect(Self.read("RESOLVE-ADDRESS 10.77.0.1") == .address(try #require(IPAddress("10.77.0.1")), reverse))
        #expect(Self.read("RESOLVE-ADDRESS ::ffff:10.77.0.1").question?.request == RecordRequest(reverse, [.ptr]))
        #expect(Self.read("HELP").ownAnswer.hasPrefix(NSSRequest.greeting))
    }

    @Test(
        "what is asked of nobody",
        arguments: [
            ("RESOLVE-HOSTNAME-IPV4 example.com", NSSFault.timeout), ("RESOLVE-HOSTNAME-IPV4 local", .timeout),
            ("RESOLVE-HOSTNAME-IPV4 h1.local.example", .timeout), ("RESOLVE-HOSTNAME-IPV4 h1..local", .invalidHostName),
            ("RESOLVE-HOSTNAME-IPV4 \\", .invalidHostName), ("RESOLVE-ADDRESS 10.77.0", .invalidAddress),
            ("RESOLVE-ADDRESS fe80::1%eth0", .invalidAddress), ("", .invalidOperation), ("   ", .invalidOperation),
            ("RESOLVE-HOSTNAME-IPV4", .invalidOperation), ("RESOLVE-HOSTNAME-IPV4 a.local b.local", .invalidOperation),
            ("BROWSE-DNS-SERVERS", .invalidOperation), ("resolve-address 10.77.0.1", .invalidOperation),
            ("HELP me", .invalidOperation), ("GET / HTTP/1.1", .invalidOperation),
            ("\u{0}\u{1b}[2J", .invalidOperation),
        ])
    func refused(_ line: String, _ fault: NSSFault) {
        let request = Self.read(line)
        #expect(request == .wrong(fault) && request.question == nil)
        #expect(request.ownAnswer.hasPrefix("\(fault.rawValue) ") && request.ownAnswer.hasSuffix("\n"))
    }

    private static func record(
        _ owner: String, _ address: String, _ index: UInt32 = 2, isNear: Bool = true
    ) throws -> DeskRecord {
        let (type, data) = try #require(IPAddress(address)).record
        return DeskRecord(
            ResourceRecord(try name(owner), type, data, ttl: 100),
            on: NetworkInterface(index: index, name: "eth\(index)"), isNear: isNear)
    }

    @Test("the best address, with its interface and family")
    func best() throws {
        let records = [
            try Self.record("h1.local", "192.0.2.7", 3, isNear: false), try Self.record("h1.local", "fe80::1", 2),
            try Self.record("h1.local", "10.77.0.1", 2), try Self.record("h1.local", "fd00::1", 4),
        ]
        #expect(Self.read("RESOLVE-HOSTNAME-IPV4 h1.local").line(records) == "+ 2 0 h1.local 10.77.0.1\n")
        #expect(Self.read("RESOLVE-HOSTNAME-IPV6 h1.local").line(records) == "+ 4 1 h1.local fd00::1\n")
        #expect(Self.read("RESOLVE-HOSTNAME h1.local").line(records) == "+ 2 0 h1.local 10.77.0.1\n")
        let onLink = [try Self.record("h1.local", "fe80::1", 2)]
        #expect(Self.read("RESOLVE-HOSTNAME-IPV6 h1.local").line(onLink) == "+ 2 1 h1.local fe80::1\n")
        #expect(Self.read("RESOLVE-HOSTNAME-IPV4 h1.local").line(onLink) == "-15 Timeout reached\n")
        #expect(Self.read("RESOLVE-HOSTNAME-IPV4 h1.local").line([]) == "-15 Timeout reached\n")
    }

    @Test("this machine's name and addresses are its own, whatever the links say")
    func own() throws {
        func place(_ index: UInt32, _ name: String, _ text: String, _ length: Int) throws -> AddressBlock {
            let address = try #require(IPAddress(text))
            let block = try #require(CIDR(containing: address, prefixLength: length))
            return AddressBlock(NetworkInterface(index: index, name: name), address, block)
        }
        let networks = OwnNetworks([
            try place(1, "lo", "127.0.0.1", 8), try place(2, "eth0", "10.77.0.2", 24),
            try place(2, "eth0", "fd00::2", 64),
        ])
        let machine = try Self.name("h2.local")
        func line(_ text: String) -> String? {
            let request = Self.read(text)
            return request.question.flatMap { networks.records(for: $0.request, of: machine) }.map { request.line($0) }
        }
        #expect(line("RESOLVE-HOSTNAME-IPV4 H2.local") == "+ 2 0 H2.local 10.77.0.2\n")
        #expect(line("RESOLVE-HOSTNAME-IPV6 h2.local") == "+ 2 1 h2.local fd00::2\n")
        #expect(line("RESOLVE-ADDRESS 10.77.0.2") == "+ 2 0 h2.local\n")
        for other in ["RESOLVE-ADDRESS 10.77.0.3", "RESOLVE-ADDRESS 127.0.0.1", "RESOLVE-HOSTNAME-IPV4 h1.local"] {
            #expect(line(other) == nil, "\(other)")
        }
        #expect(networks.records(for: .addresses(of: machine), of: nil) == nil)
    }

    @Test("the name of an address: one of the link, escaped, and no longer than is read")
    func names() throws {
        let request = Self.read("RESOLVE-ADDRESS 10.77.0.1")
        func line(_ target: DomainName) throws -> String {
            let record = ResourceRecord(try Self.name("1.0.77.10.in-addr.arpa"), .ptr, .ptr(target), ttl: 100)
            return request.line([DeskRecord(record, on: NetworkInterface(index: 2, name: "eth2"))])
        }
        #expect(try line(Self.name("h1.local")) == "+ 2 0 h1.local\n")
        #expect(try line(Self.name("a b\\010c.local")) == "+ 2 0 a\\032b\\010c.local\n")
        #expect(try line(Self.name("bank.example")) == "-15 Timeout reached\n")
        let long = try DomainName(
            labels: Array(repeating: [UInt8](repeating: 1, count: 60), count: 3) + [Array("local".utf8)])
        #expect(try line(long) == "-15 Timeout reached\n")
    }

    @Test("who listens at a path, of what the kernel lists")
    func listeners() {
        let list = """
            Num       RefCount Protocol Flags    Type St Inode Path
            0000000000000000: 00000002 00000000 00010000 0001 01 1234 /run/avahi-daemon/socket
            0000000000000000: 00000003 00000000 00000000 0001 03 1235 /run/other/socket
            0000000000000000: 00000002 00000000 00010000 0001 01 1236 /var/run/third/socket
            0000000000000000: 00000003 00000000 00000000 0001 03 77
            broken
            """
        func has(_ path: String, _ own: UInt64) -> Bool {
            NSSPlace.hasListener(Array(path.utf8), besides: own, in: Array(list.utf8))
        }
        #expect(has("/run/avahi-daemon/socket", 0))
        #expect(!has("/run/avahi-daemon/socket", 1234))
        #expect(has("/run/third/socket", 0) && !has("/third/socket", 0))
        #expect(!has("/run/other/socket", 0) && !has("/run/avahi-daemon", 0))
    }
}

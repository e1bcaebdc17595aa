#if Commands
import ArgumentParser
import DNSSD
import Testing

@testable import DiscoverdCommands

@Suite("What a word of the command line is")
struct WordKindTests {
    @Test("an underscore makes a type, .local or an address a host, all else a name")
    func kinds() {
        for text in ["_http._tcp", "_http", "_http._tcp.local", "_a._sub._http._tcp"] {
            guard case .type(let type) = WordKind(text) else {
                Issue.record("\(text): \(WordKind(text))")
                continue
            }
            #expect(type.base.description == "_http._tcp")
        }
        for (text, kind) in [
            ("10.77.0.1", WordKind.address), ("fe80::1%eth0", .address), ("h1.local", .host), ("h1.local.", .host),
            ("tony._http._tcp.local", .fullName), ("Front.Door._http._tcp.local", .fullName), ("tony", .name),
            ("Dr. Who", .name), ("v1.2", .name), ("h1", .name), ("www.example.org", .name), ("local", .name),
        ] { #expect(WordKind(text) == kind, "\(text)") }
    }

    @Test(
        "the wrong kind is refused, with the command that is meant",
        arguments: [
            ("resolve _http._tcp", "discoverd browse _http._tcp -t"),
            ("resolve tony h1.local", #"The type "h1.local": it is a host: 'discoverd resolve h1.local'"#),
            ("publish web 80 --host 10.0.0.9", "--host printer.local --address 10.0.0.9"),
            ("connect h1.local", "discoverd resolve h1.local"), ("connect 10.77.0.1", "discoverd resolve 10.77.0.1"),
            ("connect _http._tcp", "discoverd browse _http._tcp -t"),
            ("forward h1.local 0", "discoverd resolve h1.local"), ("forward 0 h1.local", "discoverd resolve h1.local"),
            ("publish 9000 tony", "'discoverd publish tony 9000'"), ("key pair h1.local", "'discoverd key pair h1'"),
            ("forward tony web", "discoverd forward NAME PORT"),
            ("wait h1.local", "discoverd resolve h1.local"), ("wait 10.77.0.1", "discoverd resolve 10.77.0.1"),
            ("wait tony._http._tcp.local", #"discoverd wait _http._tcp --name "tony""#),
            ("browse h1.local", "discoverd resolve h1.local"), ("browse 10.77.0.1", "discoverd resolve 10.77.0.1"),
            ("doctor 10.77.0.1", "discoverd resolve 10.77.0.1"),
            ("doctor www.example.org", "discoverd resolve --host www.example.org"),
            ("doctor --pcap f", "discoverd doctor NAME"), ("doctor tony --domain a.example", "without a NAME"),
            ("query _http._tcp PTR", "discoverd query _http._tcp.local PTR"),
            ("query 10.77.0.1 PTR", "discoverd resolve 10.77.0.1"), ("query fe80::1 PTR", "discoverd resolve fe80::1"),
            ("browse --types http", "exclude each other"), ("browse --types --domains", "exclude each other"),
            ("browse --types -r", "exclude each other"), ("resolve tony _http._tcp more", "NAME [TYPE]"),
            ("browse tony._http._tcp.local", "discoverd resolve"),
            ("publish _http._tcp 80", "'discoverd publish NAME PORT --type _http._tcp'"),
            ("publish tony._http._tcp.local 80", "'discoverd publish tony PORT --type _http._tcp'"),
            ("publish a.b._http._tcp.local 80", "'discoverd publish NAME PORT --type TYPE'"),
            ("publish _http._tcp web 80", "'discoverd publish web PORT --type _http._tcp'"),
            ("resolve a.b._http._tcp.local", #"write a\.b._http._tcp.local"#),
            ("publish 10.77.0.2 80", "--type"), ("publish h1.local 80", "'discoverd publish NAME PORT'"),
            ("listen _http._tcp 0", "'discoverd listen NAME PORT --type _http._tcp'"),
            ("unpublish _http._tcp", "'discoverd status --services' lists them"),
            ("unpublish 10.0.0.1", "discoverd resolve"),
            ("resolve --host _http._tcp", "discoverd browse _http._tcp -t"),
            ("resolve --host tony._http._tcp.local", "is a service"), ("browse _http._tcp -t 3", "--timeout"),
        ])
    func refused(_ line: String, _ advice: String) throws {
        // By the command itself: for each line the root would look at all commands.
        let (command, arguments) = try #require(DiscoverdCommand.command(in: line.words))
        do {
            _ = try command.parseAsRoot(arguments)
            Issue.record("\(line) is taken")
        } catch {
            let message = command.fullMessage(for: error)
            let words = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains(advice), "\(message)")
            #expect(command.exitCode(for: error) == .validationFailure)
        }
    }

    @Test(
        "what may be meant is taken: a host where one is as good, and any name whose type is said",
        arguments: [
            "resolve h1.local", "resolve tony._http._tcp.local", "connect tony._http._tcp.local",
            "connect h1.local _http._tcp",
            "forward 10.77.0.1 0 _http._tcp", "forward 0 10.77.0.1 _http._tcp", "forward 80 80", "resolve Front.Door",
            "resolve 10.77.0.1 fe80::1%eth0 h1.local", "resolve --host h1 www.example.org", "doctor", "doctor tony",
            "key pair h1", "key pair", "publish h1.local 80 --type _http._tcp",
            "publish _http._tcp 80 --type _http._tcp",
            "publish 10.0.0.1 80 --type _http._tcp", "unpublish printer.local", "unpublish _http._tcp _http._tcp",
            "publish --address-record printer.local 10.0.0.9", "listen 10.0.0.1 0 --type _http._tcp",
            "doctor h1.local --timeout 2", "browse --domains -t", "query _http._tcp.local PTR",
            "query _http._tcp PTR --server 10.0.0.1", "wait _http._tcp --name h1.local",
            "wait --name h1.local",
            "browse _http._tcp.local", "wait tony",
        ])
    func taken(_ line: String) {
        #expect(DiscoverdCommand.parseDirectly(line.words) != nil)
    }
}

extension String {
    /// As a shell splits a line without quotes.
    var words: [String] { split(separator: " ").map(String.init) }
}
#endif

import DNSSD
import DiscoveryDaemon
import Testing

@Suite struct CheckSpecificationTests {
    @Test(arguments: [
        ("tcp", CheckSpecification.Kind.tcp), ("http:/x?y=1", .http(path: "/x?y=1")),
        ("exec:/bin/true a  b", .exec(command: ["/bin/true", "a", "b"])),
        (#"exec:/bin/test "-e " "" "a \"b\" \\" c"#, .exec(command: ["/bin/test", "-e ", "", #"a "b" \"#, "c"])),
        (#"exec:/bin/sh -c "test -e /x"y"#, .exec(command: ["/bin/sh", "-c", "test -e /xy"])),
        (#"exec:/bin/x \d+"#, .exec(command: ["/bin/x", #"\d+"#])),
        ("unit:web@1.service", .unit("web@1.service")),
        ("pid:123", .pid(123)),
    ])
    func reads(_ text: String, _ kind: CheckSpecification.Kind) throws {
        let spec = try CheckSpecification(text)
        #expect(spec.kind == kind)
        #expect(spec.interval == .seconds(10) && spec.timeout == .seconds(2) && spec.rise == 2 && spec.fall == 3)
        #expect(try CheckSpecification(spec.description) == spec)
    }

    @Test(arguments: [
        "", "tcp:", "tcp:80", "http", "http:", "http:x", "http:/a b", "http:/a\r\nX: y", "http:/é", "exec", "exec:",
        "exec: ", "exec:/bin/sh \"a", "exec:\"\"",
        "unit:", "unit:web", "unit:--help.x", "unit:a b.service", "pid:", "pid:0", "pid:-1", "pid:x", "pid:99999999999",
        "ping",
    ])
    func refuses(_ text: String) {
        #expect { _ = try CheckSpecification(text) } throws: { ($0 as? DiscoveryError)?.code == .invalidCheck }
    }

    @Test func whatIsTooLongIsToldSo() {
        let error = #expect(throws: DiscoveryError.self) {
            try CheckSpecification("http:/" + String(repeating: "a", count: 5000))
        }
        #expect(error?.message.contains("5001 bytes") == true)
    }

    @Test func whatIsSplitOtherwiseIsWrittenOtherwise() throws {
        let commands = [
            ["a", "b c"], ["a", "b", "c"], ["a b", "c"], ["a", "\"b", "c\""], ["a", "b c", ""], ["a", #"b\c"#],
        ]
        let texts = try commands.map { try CheckSpecification(.exec(command: $0)).description }
        #expect(Set(texts).count == commands.count)
        for (text, command) in zip(texts, commands) {
            #expect(try CheckSpecification(text).kind == .exec(command: command))
        }
    }

    @Test func refusesValuesOutsideOfTheirRanges() {
        #expect(throws: DiscoveryError.self) { try CheckSpecification("tcp", interval: .zero) }
        #expect(throws: DiscoveryError.self) { try CheckSpecification("tcp", timeout: .seconds(301)) }
        #expect(throws: DiscoveryError.self) { try CheckSpecification("tcp", rise: 0) }
        #expect(throws: DiscoveryError.self) { try CheckSpecification("tcp", fall: 101) }
    }
}

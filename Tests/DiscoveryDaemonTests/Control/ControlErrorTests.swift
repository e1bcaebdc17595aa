import DNSSD
import DiscoveryJSON
import Testing

@testable import DiscoveryControl

@Suite struct ControlErrorTests {
    private func received(_ error: ControlError) -> ControlError {
        var writer = JSONWriter()
        writer.error(error)
        return ControlError(status: error.status, body: writer.bytes)
    }

    @Test("what the daemon has escaped is not escaped again")
    func escapedOnce() {
        let error = ControlError(DiscoveryError(.notFound, #"there is no "a\b\#("\u{1B}[2J".escapedForTerminal)""#))
        #expect(error.message == #"there is no "a\b\u{1B}[2J""#)
        #expect(received(error) == error)
    }

    @Test("of several errors each is escaped by itself, and stands in a line of its own")
    func list() {
        let error = ControlError(422, "bad-configuration", ["a.yaml:1: no", #"b.yaml:2: unknown key "\u{1B}x""#])
        #expect(error.message == "a.yaml:1: no\nb.yaml:2: unknown key \"\\u{1B}x\"" && received(error) == error)
        let hostile = ControlError(422, "bad-configuration", ["a\nb", "\u{1B}[2J"])
        #expect(received(hostile).message == "a\\u{A}b\n\\u{1B}[2J")
    }

    @Test("what a process in its place has not is")
    func hostile() {
        let error = ControlError(404, "not-found", "\u{1B}[2J \\u{1B}")
        #expect(received(error).message == #"\u{1B}[2J \u{5C}u{1B}"#)
    }
}

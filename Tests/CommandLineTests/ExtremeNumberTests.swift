#if Commands
import ArgumentParser
import CommandFrame
import Discovery
import DiscoveryTesting
import Testing

@testable import DiscoverdCommands

/// Every number on the command line, at its extremes: it is accepted, or it is a usage error.
@Suite struct ExtremeNumberTests {
    /// A command line with `#` in place of the number.
    struct Place: Sendable {
        let command: any ParsableCommand.Type
        let line: [String]

        init(_ command: any ParsableCommand.Type, _ line: String) {
            self.command = command
            self.line = line.split(separator: " ").map(String.init)
        }
    }

    private static let places = [
        Place(BrowseCommand.self, "_http._tcp --timeout=#"), Place(BrowseCommand.self, "_http._tcp --count=#"),
        Place(BrowseCommand.self, "--types --timeout=#"), Place(QueryCommand.self, "a A --timeout=#"),
        Place(DoctorCommand.self, "a --timeout=#"),
        Place(ResolveCommand.self, "a --timeout=#"), Place(WaitCommand.self, "_http._tcp --timeout=#"),
        Place(WaitCommand.self, "_http._tcp --count=#"), Place(PublishCommand.self, "a #"),
        Place(PublishCommand.self, "a 1 --timeout=#"), Place(PublishCommand.self, "a 1 --check=tcp --check-interval=#"),
        Place(PublishCommand.self, "a 1 --check=tcp --rise=#"), Place(PublishCommand.self, "a 1 --check=tcp --fall=#"),
        Place(ConnectCommand.self, "a --timeout=#"), Place(ListenCommand.self, "a #"),
        Place(ListenCommand.self, "a 0 --max=#"), Place(ForwardCommand.self, "a #"), Place(ForwardCommand.self, "# a"),
        Place(ForwardCommand.self, "a 0 --max=#"),
    ]

    @Test(arguments: places) func isTakenOrRefused(_ place: Place) throws {
        var taken = 0
        // Only a few of them, because in a debug build parsing a line takes half a second. What parses an option's text is tested with all of
        // them below.
        for text in ["1", "-1", "9223372036854775807", "1e300", "nan"] {
            do {
                _ = try place.command.parse(place.line.map { $0.replacing("#", with: text) })
                taken += 1
            } catch {
                #expect(place.command.exitCode(for: error).rawValue == 64, "\(place.line) \(text): \(error)")
            }
        }
        #expect(taken > 0, "\(place.line)")
    }

    @Test func whatTheOptionsReadIsInItsRange() throws {
        for text in ExtremeNumbers.all {
            #expect((try? Parsing.count(text)).map { (1...1_000_000).contains($0) } ?? true)
            #expect((try? Parsing.connections(text)).map { (1...1024).contains($0) } ?? true)
            _ = (try? Parsing.port(text), try? Parsing.optionalPort(text), try? Parsing.address("fe80::1%\(text)"))
            guard let time = try? Parsing.seconds(text) else { continue }
            #expect(time > .zero && time <= .seconds(31_536_000), "\(text): \(time)")
        }
        #expect(try Parsing.seconds("5e-324") == .milliseconds(1))
    }

    @Test func theLengthOfABlockIsInItsRange() {
        for text in ExtremeNumbers.all {
            #expect((try? CIDR("0.0.0.0/\(text)")).map { (0...32).contains($0.prefixLength) } ?? true)
        }
    }
}
#endif

public import DNSSD

#if Commands
import ArgumentParser
#endif

/// Parses the texts of the command line; each function throws the rule that was broken.
public enum Parsing {
    /// A port, 1 to 65535.
    public static func port(_ text: String) throws -> Port {
        guard let number = Int(text) else {
            throw DiscoveryError(.invalidPort, "port \"\(text.escapedForTerminal)\" is not a number in 1 to 65535")
        }
        return try Port(number)
    }

    /// A time in seconds, fractions allowed: more than 0, at most a year.
    public static func seconds(_ text: String) throws -> Duration {
        guard let seconds = Double(text), seconds > 0, seconds <= 31_536_000 else {
            throw Failure("it must be a number of seconds, more than 0 and at most 31536000 (a year)")
        }
        return .milliseconds(Int64((seconds * 1000).rounded(.up)))
    }

    /// A whole number from 1 to 1 000 000.
    public static func count(_ text: String) throws -> Int {
        guard let count = Int(text), (1...1_000_000).contains(count) else {
            throw Failure("it must be a whole number from 1 to 1000000")
        }
        return count
    }

    /// The name to search for. Existing services may break the rules for publishing, so only the length is checked.
    public static func soughtName(_ text: String) throws -> ServiceName {
        guard (1...ServiceName.maximumLength).contains(text.utf8.count) else { return try ServiceName(text) }
        return ServiceName(observed: text)
    }

    /// Why a text is not valid.
    public struct Failure: Error, CustomStringConvertible {
        /// The rule that was broken.
        public let description: String

        /// Creates a failure.
        public init(_ description: String) { self.description = description }
    }
}

#if Commands
extension Parsing {
    /// Reports a broken rule as a fault of the command line.
    package static func validate(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DiscoveryError {
            throw ValidationError(error.message)
        } catch let error as Failure {
            throw ValidationError(error.description)
        }
    }
}
#endif

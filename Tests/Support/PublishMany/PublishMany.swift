import AvahiEngine
import DNSSD
import Discovery
import Foundation
import Glibc
import MulticastEngine
import NetworkServices

/// Publishes COUNT services through the library and prints each change of state as a JSON line:
/// `PublishMany COUNT [PREFIX [TYPE [PORT [INTERFACE-PATTERN]...]]]`. The names are PREFIX-0000 onwards, the TXT record is number=N.
/// The end of standard input withdraws them all; SIGTERM acts as a crash.
@main
enum PublishMany {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1, let count = Int(arguments[1]), count > 0 else {
            print("usage: PublishMany COUNT [PREFIX [TYPE [PORT [INTERFACE-PATTERN]...]]]")
            exit(64)
        }
        let prefix = arguments.count > 2 ? arguments[2] : "many"
        let type = try ServiceType(arguments.count > 3 ? arguments[3] : "_witap._tcp")
        let port = try Port(arguments.count > 4 ? Int(arguments[4]) ?? 0 : 9000)
        let interfaces = arguments.count > 5 ? try InterfaceFilter(Array(arguments[5...])) : .all

        // Its own responder, the host's avahi-daemon, or what is there.
        let (statuses, follower) = AsyncStream<PublicationStatus>.makeStream()
        let observer = Follower(statuses: follower)
        let network =
            switch ProcessInfo.processInfo.environment["LAB_PUBLISHER"] {
            case "wire": LocalNetwork(engine: try MulticastEngine(), observer: observer)
            case "auto": try LocalNetwork(backend: .auto, observer: observer)
            default: LocalNetwork(engine: try AvahiEngine(), observer: observer)
            }
        let publications = try (0..<count).map { number in
            let digits = String(number)
            let name = "\(prefix)-\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
            return network.publish(
                OfferedService(
                    name: try ServiceName(name), type: type, port: port, txt: try TXTRecord(["number": digits]),
                    interfaces: interfaces))
        }
        // Runs until standard input ends; a separate thread waits for that.
        let ended = AsyncStream<Void> { stream in
            Thread.detachNewThread {
                var byte: UInt8 = 0
                while read(STDIN_FILENO, &byte, 1) > 0 {}
                stream.finish()
            }
        }
        let printing = Task { for await status in statuses { tell(status) } }
        for await _ in ended {}
        await network.shutdown()
        withExtendedLifetime(publications) {}
        follower.finish()
        await printing.value
    }

    /// Hands on what becomes of all publications: a task for each would hold more memory than the service.
    private struct Follower: DiscoveryObserver {
        let statuses: AsyncStream<PublicationStatus>.Continuation

        func observed(_ observation: DiscoveryObservation) {
            if case .publication(_, let status) = observation { statuses.yield(status) }
        }
    }

    /// Names consist of letters, digits, `#` and spaces, which JSON takes as is; reasons contain no quotes.
    private static func tell(_ status: PublicationStatus) {
        let (state, reason) = words(status.state)
        let plain = reason.filter { $0 != "\"" && $0 != "\\" }
        let line =
            #"{"event":"published","wanted":"\#(status.wanted)","name":"\#(status.name)","state":"\#(state)","reason":"\#(plain)"}"#
            + "\n"
        // One write per line, because tasks share the output.
        _ = Array(line.utf8).withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }

    private static func words(_ state: PublicationStatus.State) -> (String, String) {
        switch state {
        case .waiting(let reason): ("waiting", reason)
        case .registering: ("registering", "")
        case .established: ("established", "")
        case .refused(let error): ("refused", error.message)
        case .conflicted(let error): ("conflicted", error.message)
        case .failed(let error): ("failed", error.message)
        case .withdrawn: ("withdrawn", "")
        }
    }
}

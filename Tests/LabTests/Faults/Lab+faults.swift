import Foundation
import Testing

/// Every scenario of a fault (docs/reliability.md).
@Suite("Faults", .labSlot)
enum FaultTests {}

/// Faults that take minutes: `make soak`.
@Suite("Soak", .serialized, .enabled(if: ProcessInfo.processInfo.environment["SOAK"] != nil), .timeLimit(.minutes(120)))
enum SoakTests {}

/// The figures of a scenario, printed for docs/reliability.md.
struct Figures {
    var scenario: String
    var what: String
    /// How many of the expected services were missing at the end.
    var lost = 0
    /// From the end of the fault until the expected state was restored.
    var recovery: Duration?
    /// Ends reported on the other host for services that had not ended.
    var flaps = 0
    var note = ""

    func record() {
        let seconds = recovery?.seconds ?? "–"
        print("reliability: | \(scenario) | \(what) | \(lost) | \(seconds) | \(flaps) | \(note) |")
    }
}

extension Lab {
    static let type = "_fault._tcp"

    /// The names that `publishMany` publishes.
    static func names(_ count: Int, prefix: String = "s") -> Set<String> {
        Set((0..<count).map { String(format: "\(prefix)-%04d", $0) })
    }

    /// Publishes many services from one process, through the library.
    func publish(
        _ count: Int,
        on host: String,
        prefix: String = "s",
        port: Int = 9000,
        interfaces: [String] = []
    ) throws -> PublishLog {
        let arguments = [Built.program("PublishMany"), "\(count)", prefix, Self.type, "\(port)"]
        return PublishLog(keep(try exec(host, arguments + interfaces)))
    }

    /// `discoverd publish NAME 9000 --json`.
    func publish(_ name: String, on host: String, _ options: String...) throws -> PublishLog {
        let arguments = [Built.discoverd, "publish", name, "9000", "--type", Self.type, "--json"]
        let avahi = Self.publishesOnWire ? "never" : "always"
        return PublishLog(keep(try exec(host, arguments + ["--avahi", avahi] + options)))
    }

    /// `discoverd browse --json`, on the real link only, so that everything seen came from it.
    func browse(on host: String, _ options: String...) throws -> BrowseLog {
        let arguments = [Built.discoverd, "browse", Self.type, "--json", "--interface", "eth0"]
        return BrowseLog(keep(try exec(host, arguments + Self.finder + options)))
    }

    /// What finds: the links themselves, or avahi-daemon with `LAB_FINDER=avahi`.
    static let finder = ["--finder", chosenFinder ?? "wire"]
    static let isOnWire = chosenFinder != "avahi"
    /// What publishes: avahi-daemon, or discoverd itself with `LAB_PUBLISHER=wire`.
    static let publisher = publishesOnWire ? ["--avahi", "never"] : []
    static let publishesOnWire = ProcessInfo.processInfo.environment["LAB_PUBLISHER"] == "wire"
    static let chosenFinder = ProcessInfo.processInfo.environment["LAB_FINDER"]

    /// Publishes and browses; returns once all services are established here and seen there.
    func published(
        _ count: Int,
        resolve: Bool = true
    ) async throws -> (publications: PublishLog, browser: BrowseLog, names: Set<String>) {
        var publications = try publish(count, on: "h1")
        var browser = try resolve ? browse(on: "h2", "-r") : browse(on: "h2")
        let names = Self.names(count)
        try await publications.wait(forEstablished: names, within: .seconds(20))
        try await browser.wait(for: "all seen", within: .seconds(20)) { $0.names == names && $0.isSettled }
        return (publications, browser, names)
    }

    /// Publishes one more service and waits until the browser reports it; everything before it has been reported by then.
    func sentinel(_ browser: inout BrowseLog, on host: String = "h1", within limit: Duration = .seconds(30))
        async throws
    {
        let process = try exec(host, "avahi-publish", "-s", "sentinel", Self.type, "9999")
        try await browser.wait(for: "the sentinel", within: limit) { $0.names.contains("sentinel") }
        process.signal(SIGINT)
        try await process.exit()
    }

    /// The longest that an end is held back, plus Avahi's own second.
    static let hold = Duration.milliseconds(4_500)

    /// Waits as long as an end may be held back, and expects that none was reported and all these services are still there.
    func expectNoEnds(
        in browser: inout BrowseLog,
        of names: Set<String>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await Task.sleep(for: Self.hold)
        try await sentinel(&browser)
        #expect(browser.count("removed") == 0, sourceLocation: sourceLocation)
        #expect(browser.names.isSuperset(of: names), sourceLocation: sourceLocation)
    }

    /// Starts avahi-daemon after its bus came back; Debian's has ended with the bus, or is about to.
    func startAvahiAgain(_ host: String) async throws {
        // It may outlive the bus: then it is not started again, which fails.
        _ = try? await eventually(within: .seconds(5), every: .milliseconds(50), "avahi-daemon has ended") {
            (try? await avahi(host, "pid")) == nil ? true : nil
        }
        try await avahi(host, "start")
    }
}

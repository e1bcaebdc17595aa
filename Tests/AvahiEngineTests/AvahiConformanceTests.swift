import AvahiEngine
import DNSSD
import Discovery
import DiscoveryTesting
import Foundation
import Testing

/// The conformance suite on real engines. Runs only on a host of the lab, where `LabTests` starts it; never against this machine's own
/// avahi-daemon.
@Suite(
    .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["LAB_HOST"] != nil, "not on a host of the lab"),
    .timeLimit(.minutes(3))
)
struct AvahiConformanceTests {
    @Test(arguments: LabHost.part(of: EngineConformance.checks))
    func conforms(_ check: EngineConformance.Check) async throws {
        try await Guards.warmUp.value
        let before = Guards.now()
        try await run(check)
        try await Guards.expect(before)
    }

    private func run(_ check: EngineConformance.Check) async throws {
        let publisher = try AvahiEngine()
        let browser = try AvahiEngine()
        try await check.run(
            EngineConformance.Environment(
                publisher: publisher,
                browser: browser,
                // avahi-daemon works on a thousand services for long, in one piece, and says nothing meanwhile.
                patience: .seconds(60),
                browserBackend: LabHost.backend,
                publisherBackend: LabHost.backend,
                browserLink: LabHost.cable,
                isOneMachine: true,
                crowd: LabHost.crowd,
                openObjects: {
                    let published = await publisher.openObjects
                    return await browser.openObjects + published
                }
            )
        )
        await publisher.shutdown()
        await browser.shutdown()
    }

    @Test("an engine that is only dropped leaves nothing behind either")
    func dropped() async throws {
        try await Guards.warmUp.value
        let before = Guards.now()
        for _ in 0..<5 { _ = try AvahiEngine() }
        for _ in 0..<3 { try await Guards.browseOnce(try AvahiEngine()) }
        try await Guards.expect(before)
    }
}

/// Resources that must not have grown afterwards.
struct Guards: Equatable, Sendable {
    /// How many descriptors of each kind are open: what the kernel calls them, without numbers.
    var descriptors: [String: Int]
    /// Avahi's threads only; Swift's pool adds threads on demand and keeps them.
    var threads: Int

    /// What is more than before. There may be less of anything, because something of an earlier test may have ended meanwhile.
    func growth(since before: Guards) -> [String] {
        let grown = descriptors.filter { $0.value > before.descriptors[$0.key, default: 0] }
        let told = grown.map { "\($0.key): \($0.value), before \(before.descriptors[$0.key, default: 0])" }
        return told.sorted() + (threads > before.threads ? ["threads: \(threads), before \(before.threads)"] : [])
    }

    /// The first use of Swift's pool, its timers and D-Bus opens descriptors that stay open.
    static let warmUp = Task {
        // Each clock's timers have their own descriptor, which comes with the first one that is not over before it is set.
        try await Task.sleep(for: .milliseconds(250), clock: .continuous)
        try await Task.sleep(for: .milliseconds(250), clock: .suspending)
        let engine = try AvahiEngine()
        try await browseOnce(engine)
        await engine.shutdown()
    }

    static func browseOnce(_ engine: AvahiEngine) async throws {
        let network = LocalNetwork(engine: engine)
        for try await event in network.browse(try ServiceType("_warmup._tcp")) where event == .settled { break }
    }

    static func now() -> Guards {
        let files = FileManager.default
        let tasks = (try? files.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let names = tasks.map { (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) ?? "" }
        // The descriptor that lists them is gone when it is looked at.
        let open = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let kinds = open.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .map { String($0.filter { !$0.isNumber }) }
        return Guards(
            descriptors: Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +),
            threads: names.count { $0.hasPrefix("avahi") }
        )
    }

    /// Polls, because threads end in their own time and the kernel does not report the end of a detached one.
    static func expect(_ before: Guards) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while !now().growth(since: before).isEmpty, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(now().growth(since: before) == [])
    }
}

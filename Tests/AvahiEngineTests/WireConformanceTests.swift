import AvahiEngine
import DNSSD
import Discovery
import DiscoveryTesting
import Foundation
import MulticastEngine
import Testing

/// The conformance suite on the wire, with avahi-daemon as the publisher: on a lab host, where `LabTests` starts it.
@Suite(
    .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["LAB_HOST"] != nil, "not on a host of the lab"),
    .timeLimit(.minutes(3))
)
struct WireConformanceTests {
    @Test(arguments: LabHost.part(of: EngineConformance.checks))
    func conforms(_ check: EngineConformance.Check) async throws {
        let publisher = try AvahiEngine()
        let wire = try MulticastEngine()
        try await check.run(
            EngineConformance.Environment(
                publisher: publisher,
                browser: EngineRouter(finders: [wire], publishers: [publisher]),
                limits: wire.limits(in: .local),
                // avahi-daemon, which publishes, works on a thousand services for long, in one piece.
                patience: .seconds(60),
                publisherBackend: LabHost.backend,
                browserLink: LabHost.cable,
                isOneMachine: true,
                crowd: LabHost.crowd,
                openObjects: {
                    let published = await publisher.openObjects
                    return await wire.openObjects + published
                }
            )
        )
        await wire.shutdown()
        await publisher.shutdown()
    }
}

/// The same without avahi-daemon: one engine finds and publishes.
@Suite(
    .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["LAB_BARE_HOST"] != nil, "not on a host without avahi-daemon"),
    .timeLimit(.minutes(3))
)
struct WireAloneConformanceTests {
    @Test(arguments: LabHost.part(of: EngineConformance.checks))
    func conforms(_ check: EngineConformance.Check) async throws {
        let wire = try MulticastEngine()
        // It keeps the links open: what a check has asked for ends by itself, and not because its link is closed.
        let standing = wire.browse(
            ServiceQuery(.type(try ServiceType("_standing._tcp"), .local), resolution: .none), reporting: { _ in })
        try await check.run(
            EngineConformance.Environment(
                publisher: wire, browser: wire, limits: wire.limits(in: .local), browserLink: LabHost.cable,
                isOneMachine: true, crowd: LabHost.crowd, openObjects: { await wire.openObjects }))
        standing.cancel()
        await wire.shutdown()
    }
}

/// On a host with two links and without avahi-daemon. `EngineInLabTests` listens on the first link.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["LAB_TWO_LINKS"] != nil, "not on a host with two links"),
    .timeLimit(.minutes(1))
)
struct MovingPublicationTests {
    @Test func saysGoodbye() async throws {
        let wire = try MulticastEngine()
        let (states, reported) = AsyncStream<PublicationFact.State>.makeStream()
        let first = wire.publish(
            try Self.service("first", on: "eth0"), onConflict: .rename, isPersistent: false,
            reporting: { reported.yield($0.state) })
        for await state in states where state == .established { break }
        let service = try Self.service("second", on: "eth1")
        // Both reach the engine before it sends anything.
        first.cancel()
        let second = wire.publish(
            service, onConflict: .rename, isPersistent: false, reporting: { reported.yield($0.state) })
        for await state in states where state == .established { break }
        #expect(await second.cancel(waitingAtMost: .seconds(5)))
        await wire.shutdown()
    }

    private static func service(_ name: String, on interface: String) throws -> OfferedService {
        OfferedService(
            name: try ServiceName(name), type: try ServiceType("_moves._tcp"), port: try Port(9000),
            interfaces: try InterfaceFilter([interface]))
    }
}

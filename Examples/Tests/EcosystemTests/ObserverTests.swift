import CoreMetrics
import DNSSD
import Discovery
import DiscoveryObservability
import DiscoveryTesting
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Testing
import Tracing

@Suite("Observers with the real libraries")
struct ObserverTests {
    private let instance: ServiceInstance

    init() throws {
        instance = ServiceInstance(
            name: ServiceName(observed: "to\u{1B}[2Jny"), type: try ServiceType("_http._tcp"))
    }

    private func found(_ type: String) throws -> DiscoveryObservation {
        let type = try ServiceType(type)
        let service = DiscoveredService(instance: ServiceInstance(name: instance.name, type: type))
        return .event(.found(service), ServiceQuery(.type(type, .local)))
    }

    @Test func whatIsLoggedIsEscaped() throws {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .trace
        let observer = LoggingObserver(logger)
        observer.observed(try found("_http._tcp"))
        let failure = DiscoveryError(.timedOut, "not found")
        observer.observed(.resolved(instance, .failure(failure), took: .seconds(5)))
        observer.observed(.event(.backend(.lost("gone\u{1B}")), ServiceQuery(.instance(instance))))
        #expect(handler.entries.map(\.level) == [.debug, .info, .warning])
        #expect(handler.entries.map { "\($0.message)" } == ["found", "not resolved", "backend away"])
        #expect(!handler.entries.description.contains("\u{1B}"))
        #expect("\(handler.entries[0].metadata)".contains("to"))
        #expect("\(handler.entries[1].metadata)".contains("5.0 seconds"))
    }

    @Test func aPublicationsNewNameIsNoticed() async throws {
        let handler = InMemoryLogHandler()
        let link = SimulatedNetwork()
        let first = LocalNetwork(engine: try link.addMachine("h1"))
        let second = LocalNetwork(
            engine: try link.addMachine("h2"), observer: LoggingObserver(Logger(label: "test") { _ in handler }))
        let service = try OfferedService(name: "tony", type: "_http._tcp", port: 80)
        let publications = [first.publish(service), second.publish(service)]
        for publication in publications { _ = try await publication.established() }
        #expect(try await eventually { handler.entries.contains { $0.level == .notice && $0.message == "published" } })
        withExtendedLifetime(publications) {}
    }

    @Test func typesOfANetworkMakeABoundedNumberOfLabels() throws {
        let metrics = TestMetrics()
        let observer = MetricsObserver(factory: metrics)
        for number in 0..<1000 { observer.observed(try found("_t\(number)._tcp")) }
        let counters = metrics.counters(label: "discovery_services_found")
        #expect(counters.count == MetricsObserver.maximumTypes + 1)
        let others = metrics.counterTotal(label: "discovery_services_found", dimensions: [("type", "other")])
        #expect(others == Int64(1000 - MetricsObserver.maximumTypes))
    }

    @Test func whatHappensIsCounted() async throws {
        let metrics = TestMetrics()
        let link = SimulatedNetwork()
        let server = LocalNetwork(engine: try link.addMachine("h1"))
        let client = LocalNetwork(engine: try link.addMachine("h2"), observer: MetricsObserver(factory: metrics))
        let service = try OfferedService(name: "tony", type: "_http._tcp", port: 80)
        try await server.withPublished(service) { publication in
            _ = try await publication.established()
            _ = try await client.resolve(service.instance, within: .seconds(5))
        }
        let durations = try metrics.expectTimer("discovery_resolve_duration", [("outcome", "success")])
        #expect(durations.values.count == 1)
        #expect(metrics.counterTotal(label: "discovery_services_found", dimensions: [("type", "_http._tcp")]) == 1)
        #expect(try await eventually { try metrics.expectMeter("discovery_open_queries").values.last == 0 })
    }

    @Test func resolvingIsASpanBelowTheCallersSpan() async throws {
        let tracer = InMemoryTracer()
        let link = SimulatedNetwork()
        let server = LocalNetwork(engine: try link.addMachine("h1"))
        let client = LocalNetwork(engine: try link.addMachine("h2"), observer: TracingObserver(tracer))
        let service = try OfferedService(name: "tony", type: "_http._tcp", port: 80)
        try await server.withPublished(service) { publication in
            _ = try await publication.established()
            try await tracer.withSpan("caller") { _ in
                _ = try await client.resolve(service.instance, within: .seconds(5))
                _ = try? await client.resolve(instance, within: .milliseconds(100))
            }
        }
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["dnssd.resolve", "dnssd.resolve", "caller"])
        #expect(spans[0].parentSpanID == spans[2].spanID && spans[0].errors.isEmpty)
        #expect(spans[1].errors.count == 1)
        #expect(spans[1].endInstant.nanosecondsSinceEpoch - spans[1].startInstant.nanosecondsSinceEpoch >= 100_000_000)
    }
}

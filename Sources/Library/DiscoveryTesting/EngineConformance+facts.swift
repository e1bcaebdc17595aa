import DNSSD
import Discovery

// Facts below the `Catalog`: their order, their batches, and silence after the end.
extension EngineConformance {
    static let facts: [Check] = [
        Check("the first fact of a query is whether the backend answers") { bench in
            let log = bench.log(BrowseFact.self)
            let operation = bench.engine.browse(bench.query(.watch), reporting: log.report)
            _ = try await log.wait(for: "a fact", bench.environment.patience) { !$0.isEmpty }
            operation.cancel()
            try expect(log.facts.first == .backend(.up), "it was \(String(describing: log.facts.first))")
        },
        Check("the first list is told once, after its sightings; what is resolved was sighted before") { bench in
            try await bench.withPublished(try bench.service("listed")) { _, name in
                var watcher = bench.watch()
                _ = try await watcher.found(name)
                let log = bench.log(BrowseFact.self)
                let operation = bench.engine.browse(bench.query(.watch), reporting: log.report)
                let facts = try await log.wait(for: "a list and a resolution", bench.environment.patience) {
                    $0.contains(.listed) && $0.contains(where: \.isResolution)
                }
                operation.cancel()
                try expect(facts.count { $0 == .listed } == 1, "listed twice: \(facts)")
                let sighted = facts.firstIndex { $0.sighted?.name == name }
                let resolved = facts.firstIndex(where: \.isResolution)
                try expect(sighted.map { $0 < facts.firstIndex(of: .listed) ?? 0 } == true, "\(facts)")
                // A service that another process has merged is both in one.
                try expect(sighted.map { $0 <= resolved ?? -1 } == true, "\(facts)")
            }
        },
        Check("nothing is reported from within the call that asks") { bench in
            for resolution in [ServiceQuery.Resolution.none, .once, .watch] {
                let caller = CallerThread()
                let log = bench.log(BrowseFact.self)
                let operation = caller.during {
                    bench.engine.browse(bench.query(resolution)) { facts in
                        caller.noteReport()
                        log.report(facts)
                    }
                }
                _ = try await log.wait(for: "the list", bench.environment.patience) { $0.contains(.listed) }
                operation.cancel()
                try expect(!caller.wasReentered, "reported from within the call")
            }
        },
        Check("a batch is never empty") { bench in
            try await bench.withPublished(try bench.service("batched")) { _, _ in
                let log = bench.log(BrowseFact.self)
                let operation = bench.engine.browse(bench.query(.watch), reporting: log.report)
                _ = try await log.wait(for: "the list", bench.environment.patience) { $0.contains(.listed) }
                operation.cancel()
                try expect(log.emptyBatches == 0, "\(log.emptyBatches) were")
            }
        },
        Check("after a query was cancelled and waited for nothing is reported, however often it is cancelled") {
            bench in
            let log = bench.log(BrowseFact.self)
            let operation = bench.engine.browse(bench.query(.watch), reporting: log.report)
            _ = try await log.wait(for: "the list", bench.environment.patience) { $0.contains(.listed) }
            await operation.cancel(waitingAtMost: bench.environment.patience)
            operation.cancel()
            await operation.cancel(waitingAtMost: bench.environment.patience)
            let before = log.facts.count
            try await bench.withPublished(try bench.service("too late")) { _, name in
                var watcher = bench.watch()
                _ = try await watcher.found(name)
            }
            try expect(log.facts.count == before, "\(log.facts.dropFirst(before))")
        },
        Check("a query for a name that nobody has is listed without a sighting") { bench in
            let instance = ServiceInstance(
                name: try ServiceName("nobody of this name"), type: bench.type, domain: bench.domain)
            let log = bench.log(BrowseFact.self)
            let operation = bench.engine.browse(ServiceQuery(.instance(instance)), reporting: log.report)
            _ = try await log.wait(for: "the list", bench.environment.patience) { $0.contains(.listed) }
            operation.cancel()
            try expect(!log.facts.contains { $0.sighted != nil }, "\(log.facts)")
        },
        Check("types are listed once, after what is there, and each origin once") { bench in
            try await bench.withPublished(try bench.service("typed once")) { publication, _ in
                var watcher = bench.watch()
                _ = try await watcher.found(publication.status.name)
                let log = bench.log(TypeFact.self)
                let operation = bench.engine.browseTypes(TypeQuery(domain: bench.domain), reporting: log.report)
                let key = TypeKey(type: bench.type, domain: bench.domain)
                let facts = try await log.wait(for: "the type and the list", bench.environment.patience) { facts in
                    facts.contains(.listed)
                        && facts.contains { if case .appeared(key, _) = $0 { true } else { false } }
                }
                operation.cancel()
                try expect(facts.first == .backend(.up), "\(facts)")
                try expect(facts.count { $0 == .listed } == 1, "\(facts)")
                let appeared = facts.filter { if case .appeared(key, _) = $0 { true } else { false } }
                try expect(Set(appeared).count == appeared.count, "\(appeared)")
            }
        },
        Check("the list of domains is complete at some time") { bench in
            let log = bench.log(DomainFact.self)
            let operation = bench.engine.browseDomains(DomainQuery(.browsing), reporting: log.report)
            let facts = try await log.wait(for: "the list", bench.environment.patience) { $0.contains(.listed) }
            operation.cancel()
            try expect(facts.first == .backend(.up) && facts.count { $0 == .listed } == 1, "\(facts)")
        },
        Check("the state of the backend is told without a question, and each change of it once") { bench in
            let log = bench.log(EngineState.self)
            let operation = bench.engine.watchState { log.report([$0]) }
            // An engine connects only when something is asked of it.
            var watcher = bench.watch()
            try await watcher.wait(for: "settled") { $0 == .settled ? () : nil }
            _ = try await log.wait(for: "up", bench.environment.patience) { $0.last == .up }
            if let backend = bench.environment.browserBackend {
                try await backend.stop()
                _ = try await log.wait(for: "down", bench.environment.patience) { $0.last?.reason != nil }
                try await backend.start()
                _ = try await log.wait(for: "up again", bench.environment.patience) { $0.last == .up }
            }
            await operation.cancel(waitingAtMost: bench.environment.patience)
            let facts = log.facts
            try expect(!zip(facts, facts.dropFirst()).contains { $0 == $1 }, "told twice: \(facts)")
        },
        Check("a publication is told as registering, then established, and no state twice in a row") { bench in
            let log = bench.log(PublicationFact.self)
            let engine = bench.environment.publisher
            let operation = engine.publish(try bench.service("stepwise"), onConflict: .rename) { log.report([$0]) }
            let facts = try await log.wait(for: "established", bench.environment.patience) {
                $0.last?.state == .established
            }
            await operation.cancel(waitingAtMost: bench.environment.patience)
            try expect(facts.contains { $0.state == .registering }, "\(facts)")
            try expect(!zip(facts, facts.dropFirst()).contains { $0 == $1 }, "told twice: \(facts)")
        },
        Check("what is not this engine's to publish fails, with the domain named") { bench in
            let domain = try Domain("conformance.example")
            let engine = bench.environment.publisher
            guard !engine.publishes(in: domain) else { return }
            let log = bench.log(PublicationFact.self)
            var service = try bench.service("elsewhere")
            service.domain = domain
            let operation = engine.publish(service, onConflict: .rename) { log.report([$0]) }
            let facts = try await log.wait(for: "an end", bench.environment.patience) { !$0.isEmpty }
            operation.cancel()
            guard case .failed(let error) = facts.last?.state else { throw Failure("\(facts)") }
            try expect(error.message.contains("conformance.example"), error.message)
        },
    ]
}

extension BrowseFact {
    fileprivate var isResolution: Bool {
        switch self {
        case .resolved: true
        case .merged(let service): service.state == .resolved
        default: false
        }
    }

    fileprivate var sighted: ServiceInstance? {
        switch self {
        case .appeared(let sighting): sighting.instance
        case .merged(let service): service.instance
        default: nil
        }
    }
}

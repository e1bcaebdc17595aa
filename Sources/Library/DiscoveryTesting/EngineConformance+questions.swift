import DNSSD
import Discovery

// Questions limited to a part of the network.
extension EngineConformance {
    static let questions: [Check] = [
        Check("asked over IPv4, only IPv4 addresses are told") { bench in try await addresses(bench, of: .ipv4) },
        Check("asked over IPv6, only IPv6 addresses are told") { bench in try await addresses(bench, of: .ipv6) },
        Check("an interface that is not asked for is not told", needs: [.links]) { bench in
            guard let link = bench.environment.links.first else { throw Failure("the environment has no link") }
            try await bench.withPublished(try bench.service("here only")) { _, name in
                var watcher = bench.watch(
                    bench.browser.browse(bench.type, in: bench.domain, on: try InterfaceFilter([link])))
                let found = try await watcher.found(name) { $0.state == .resolved }
                try expect(found.interfaces.map(\.name) == [link], "\(found.interfaces)")
                try expect(found.endpoints.allSatisfy { $0.interface?.name == link }, "\(found.endpoints)")
            }
        },
        Check("where no interface is asked for, nothing is found, and the list is complete", needs: [.links]) { bench in
            try await bench.withPublished(try bench.service("nowhere")) { _, _ in
                var watcher = bench.watch(
                    bench.browser.browse(bench.type, in: bench.domain, on: try InterfaceFilter(["no-such-*"])))
                try await watcher.wait(for: "settled") { $0 == .settled ? () : nil }
                let found = watcher.events.contains { if case .found = $0 { true } else { false } }
                try expect(!found, "\(watcher.events)")
            }
        },
        Check("a service on two links is one service with both", needs: [.links]) { bench in
            guard bench.environment.links.count > 1 else { return }
            try await bench.withPublished(try bench.service("twice")) { _, name in
                var watcher = bench.watch()
                let wanted = Set(bench.environment.links)
                let found = try await watcher.found(name) { wanted.isSubset(of: $0.interfaces.map(\.name)) }
                let told = watcher.events.filter { event in
                    if case .found(let service) = event { service.instance.name == name } else { false }
                }
                try expect(told.count == 1, "\(told)")
                let places = Set(found.endpoints.compactMap { $0.interface?.name })
                try expect(places.isSuperset(of: wanted), "\(found.endpoints)")
            }
        },
        Check("resolved once, a service has everything that a watched one has") { bench in
            try await bench.withPublished(try bench.service("once", txt: ["k": "v"])) { _, name in
                var watcher = bench.watch(.watch)
                let watched = try await watcher.found(name) { $0.state == .resolved }
                var other = bench.watch(.once)
                // Sightings on other interfaces may follow.
                let addresses = Set(watched.endpoints.map(\.address))
                let found = try await other.found(name) { addresses.isSubset(of: $0.endpoints.map(\.address)) }
                try expect(found.txt == watched.txt && found.port == watched.port, "\(found)")
            }
        },
        Check("a service of this machine is told as its own, one of another is not", needs: [.ownership]) { bench in
            try await bench.withPublished(try bench.service("mine")) { _, name in
                var own = bench.watch(bench.publisher.browse(bench.type, in: bench.domain))
                _ = try await own.found(name) { $0.isOwn }
                var watcher = bench.watch()
                let found = try await watcher.found(name) { $0.state == .resolved }
                try expect(found.isOwn == bench.environment.isOneMachine, "\(found)")
            }
        },
        Check("many services are complete when the list is said to be, each told once") { bench in
            // A type of its own: services that another check has just withdrawn may still be known.
            let type = try ServiceType("_conformcrowd._tcp")
            let names = try (0..<bench.environment.crowd).map { try ServiceName("one of many \($0)") }
            let publications = names.map { name in
                bench.publisher.publish(
                    OfferedService(name: name, type: type, domain: bench.domain, port: Port(rawValue: 9) ?? bench.port))
            }
            for publication in publications { _ = try await publication.established() }
            // A watcher warms the cache, so that the result does not depend on when the last announcement was heard.
            var warm = bench.watch(type)
            var seen: Set<ServiceName> = []
            while seen.count < names.count {
                seen.insert(try await warm.wait(for: "all \(names.count), after \(seen.count)", \.foundName))
            }
            var watcher = bench.watch(type)
            try await watcher.wait(for: "settled") { $0 == .settled ? () : nil }
            let found = watcher.events.compactMap(\.foundName)
            try expect(found.count == names.count && Set(found) == Set(names), "\(found.count) of \(names.count)")
            await withDiscardingTaskGroup { group in
                for publication in publications { group.addTask { await publication.withdraw() } }
            }
        },
        Check("two who ask the same are told the same, though one comes later") { bench in
            try await bench.withPublished(try bench.service("shared", txt: ["a": "b"])) { _, name in
                var first = bench.watch()
                let one = try await first.found(name) { $0.state == .resolved }
                var second = bench.watch()
                let other = try await second.found(name) { $0.state == .resolved }
                try expect(one == other, "\(one), \(other)")
            }
        },
        Check("a type goes with its last service") { bench in
            let time = bench.environment.time
            let deadline = time.now + bench.environment.patience
            var types = bench.browser.types(TypeQuery(domain: bench.domain)).makeAsyncIterator()
            try await bench.withPublished(try bench.service("last")) { _, _ in
                while let event = try await types.nextBatch(atMost: 1, until: deadline)?.first {
                    if case .found(bench.type, bench.domain, _) = event { return }
                }
                throw Failure("\(bench.type) was not listed")
            }
            while let event = try await types.nextBatch(atMost: 1, until: deadline)?.first {
                if case .lost(bench.type, bench.domain) = event { return }
            }
            throw Failure("\(bench.type) was not lost")
        },
        Check("a link that flaps takes nothing away") { bench in
            guard let link = bench.environment.browserLink else { return }
            try await bench.withPublished(try bench.service("over there")) { _, name in
                let log = bench.log(BrowseFact.self)
                let operation = bench.engine.browse(bench.query(.watch), reporting: log.report)
                var watcher = bench.watch()
                _ = try await watcher.found(name) { $0.state == .resolved }
                _ = try await log.wait(for: "a sighting", bench.environment.patience) { facts in
                    facts.contains {
                        if case .appeared(let sighting) = $0 { sighting.instance.name == name } else { false }
                    }
                }
                let before = log.facts.count
                try await link.stop()
                let facts = try await log.wait(for: "the link to go", bench.environment.patience) { facts in
                    facts.dropFirst(before).contains {
                        if case .hidden(let sighting) = $0 { sighting.instance.name == name } else { false }
                    }
                }
                try await link.start()
                operation.cancel()
                // What an earlier check has withdrawn may still be on its way out.
                let gone = facts.dropFirst(before).contains {
                    if case .disappeared(let sighting) = $0 { sighting.instance.name == name } else { false }
                }
                try expect(!gone, "\(facts.dropFirst(before))")
                try await bench.publisher.withPublished(try bench.service("after the flap")) { later in
                    _ = try await watcher.found(try await later.established())
                }
                let lost = watcher.events.contains {
                    if case .lost(let service) = $0 { service.instance.name == name } else { false }
                }
                try expect(!lost, "\(watcher.events)")
            }
        },
    ]

    private static func addresses(_ bench: Bench, of family: IPAddress.Family) async throws {
        try await bench.withPublished(try bench.service("over \(family.rawValue)")) { _, name in
            var watcher = bench.watch(bench.browser.browse(bench.type, in: bench.domain, over: family))
            let found = try await watcher.found(name) { $0.state == .resolved && !$0.endpoints.isEmpty }
            try expect(found.endpoints.allSatisfy { $0.address.family == family }, "\(found.endpoints)")
        }
    }
}

extension ServiceEvent {
    fileprivate var foundName: ServiceName? {
        if case .found(let service) = self { service.instance.name } else { nil }
    }
}

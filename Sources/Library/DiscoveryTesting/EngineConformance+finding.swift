import DNSSD
import Discovery

extension EngineConformance {
    static let finding: [Check] = [
        Check("a published service is found once, with host, port, TXT and addresses") { bench in
            let service = try bench.service("Büro 2.0 \\ 🖨", txt: ["path": "/x", "flag": nil, "empty": ""])
            try await bench.publisher.withPublished(service) { publication in
                var watcher = bench.watch()
                let name = try await publication.established()
                let found = try await watcher.found(name) { $0.state == .resolved }
                try expect(found.port == service.port, "port \(String(describing: found.port))")
                try expect(found.txt == service.txt, "TXT \(found.txt)")
                try expect(found.host != nil, "no host")
                try bench.expectPlace(of: found)
                try expect(!found.endpoints.isEmpty, "no address")
                let families = Set(found.endpoints.map { $0.address.family })
                try expect(families == Set(IPAddress.Family.allCases), "addresses only of \(families)")
                for endpoint in found.endpoints {
                    guard case .v6(let address, let scope) = endpoint.address, address.isLinkLocal else { continue }
                    try expect(scope == endpoint.interface?.index, "\(endpoint.address): no scope of its interface")
                }
                // `settled` may have come before the publication was established.
                if !watcher.events.contains(.settled) {
                    try await watcher.wait(for: "settled") { $0 == .settled ? () : nil }
                }
                let told = watcher.events.filter { event in
                    if case .found(let service) = event { service.instance.name == name } else { false }
                }
                try expect(told.count == 1, "told more than once: \(told)")
            }
        },
        Check("without resolving, names and interfaces are told") { bench in
            try await bench.withPublished(try bench.service("plain")) { _, name in
                var watcher = bench.watch(.none)
                let found = try await watcher.found(name)
                try expect(found.state == .found && found.endpoints.isEmpty, "resolved all the same: \(found)")
                try bench.expectPlace(of: found)
            }
        },
        Check("a service is found by a subtype (RFC 6763 §7.1)") { bench in
            var service = try bench.service("sub")
            service.subtypes = ["_conf"]
            try await bench.withPublished(service) { _, name in
                let type = try bench.type.withSubtype("_conf")
                var watcher = bench.watch(bench.browser.browse(type, in: bench.domain))
                let found = try await watcher.found(name)
                try expect(found.subtypes == ["_conf"], "subtypes \(found.subtypes)")
            }
        },
        Check("the type is listed while it has a service") { bench in
            try await bench.withPublished(try bench.service("typed")) { _, _ in
                let time = bench.environment.time
                let deadline = time.now + bench.environment.patience
                var iterator = bench.browser.types(TypeQuery(domain: bench.domain)).makeAsyncIterator()
                while let event = try await iterator.nextBatch(atMost: 1, until: deadline)?.first {
                    if case .found(bench.type, bench.domain, _) = event { return }
                }
                throw Failure("\(bench.type) was not listed")
            }
        },
        Check("one service is resolved by name, with every address") { bench in
            try await bench.withPublished(try bench.service("single", txt: ["k": "v"])) { _, name in
                let instance = ServiceInstance(name: name, type: bench.type, domain: bench.domain)
                let service = try await bench.browser.resolve(instance, within: bench.environment.patience)
                try expect(service.port?.rawValue == 9000, "port \(String(describing: service.port))")
                try expect(service.txt.text(for: "k") == "v", "TXT \(service.txt)")
                try expect(!service.endpoints.isEmpty, "no address")
            }
        },
        Check("resolving a service that does not exist ends at its time") { bench in
            let instance = ServiceInstance(
                name: try ServiceName("nobody at all"), type: bench.type, domain: bench.domain)
            do {
                let service = try await bench.browser.resolve(instance, within: .milliseconds(300))
                throw Failure("found \(service)")
            } catch let error as DiscoveryError {
                try expect(error.code == .timedOut, "\(error.code)")
            }
        },
        // `run` counts whether they are given up.
        Check("queries that nobody asks any more are given up, answered or not") { bench in
            for _ in 0..<3 {
                var one = bench.watch()
                var other = bench.watch(.none)
                try await one.wait(for: "settled") { $0 == .settled ? () : nil }
                try await other.wait(for: "settled") { $0 == .settled ? () : nil }
                _ = bench.watch()
            }
            let cancelled = Task { [browser = bench.browser, type = bench.type, domain = bench.domain] in
                for try await _ in browser.browse(type, in: domain) {}
            }
            cancelled.cancel()
            try await cancelled.value
        },
    ]
}

extension EngineConformance {
    static let publishing: [Check] = [
        Check("a name that another host has is given a number (RFC 6762 §9)") { bench in
            try await collide(bench, "remote", first: bench.publisher, second: bench.browser)
        },
        Check("a name that the same host has is given a number") { bench in
            try await collide(bench, "local", first: bench.publisher, second: bench.publisher)
        },
        Check("a taken name is an error when renaming is not wanted") { bench in
            try await bench.withPublished(try bench.service("taken")) { _, _ in
                // On another port: the same data under the same name would be no conflict (RFC 6762 §9).
                let second = bench.browser.publish(try bench.service("taken", port: 9001), onConflict: .fail)
                do {
                    let name = try await second.established()
                    throw Failure("established as \(name)")
                } catch let error as DiscoveryError {
                    try expect(error.code == .nameTaken, "\(error.code)")
                }
                guard case .conflicted = second.status.state else { throw Failure("is \(second.status.state)") }
            }
        },
        Check("a withdrawn service is lost (RFC 6762 §10.1)") { bench in
            var watcher = bench.watch()
            let name = try await bench.withPublished(try bench.service("leaving")) { _, name in
                _ = try await watcher.found(name)
                return name
            }
            try await watcher.lost(name)
        },
        Check("a publication that is dropped is withdrawn") { bench in
            var watcher = bench.watch()
            var publication: Publication? = bench.publisher.publish(try bench.service("dropped"))
            let name = try await publication?.established()
            guard let name else { throw Failure("no publication") }
            _ = try await watcher.found(name)
            publication = nil
            try await watcher.lost(name)
        },
        Check("published again with another TXT record, the service changes") { bench in
            var watcher = bench.watch()
            let name = try await bench.withPublished(try bench.service("text", txt: ["v": "1"])) { _, name in
                _ = try await watcher.found(name) { $0.txt.text(for: "v") == "1" }
                return name
            }
            try await bench.withPublished(try bench.service("text", txt: ["v": "2"])) { _, again in
                try expect(again == name, "it became \(again)")
                _ = try await watcher.found(name) { $0.txt.text(for: "v") == "2" }
            }
        },
        Check("another TXT record is a change and not an end, and is the one that counts (RFC 6762 §8.4)") { bench in
            var watcher = bench.watch()
            try await bench.withPublished(try bench.service("changing", txt: ["v": "1"])) { publication, name in
                _ = try await watcher.found(name) { $0.txt.text(for: "v") == "1" }
                await publication.update(txt: try TXTRecord(["v": "2", "flag": nil]))
                let changed = try await watcher.found(name) { $0.txt.text(for: "v") == "2" }
                try expect(changed.txt.contains("flag"), "TXT \(changed.txt)")
                try expect(publication.service.txt == changed.txt, "the publication has \(publication.service.txt)")
                try expect(try await publication.established() == name, "it became \(publication.status.name)")
                let hasEnded = watcher.events.contains { if case .lost = $0 { true } else { false } }
                try expect(!hasEnded, "\(watcher.events)")
            }
        },
        Check("another port is a change and not an end") { bench in
            var watcher = bench.watch()
            try await bench.withPublished(try bench.service("moving", txt: ["v": "1"])) { publication, name in
                _ = try await watcher.found(name) { $0.port == bench.port }
                await publication.update(port: try Port(9001), txt: try TXTRecord(["v": "2"]))
                _ = try await watcher.found(name) { $0.port?.rawValue == 9001 && $0.txt.text(for: "v") == "2" }
                try expect(try await publication.established() == name, "it became \(publication.status.name)")
                // Later changes keep it.
                await publication.update(txt: try TXTRecord(["v": "3"]))
                _ = try await watcher.found(name) { $0.port?.rawValue == 9001 && $0.txt.text(for: "v") == "3" }
                let hasEnded = watcher.events.contains { if case .lost = $0 { true } else { false } }
                try expect(!hasEnded, "\(watcher.events)")
            }
        },
    ]

    // Each check uses a name of its own: a backend may still hold the previous one for a moment.
    private static func collide(
        _ bench: Bench,
        _ wanted: String,
        first: LocalNetwork,
        second: LocalNetwork
    ) async throws {
        try await first.withPublished(try bench.service(wanted)) { one in
            let name = try await one.established()
            try await second.withPublished(try bench.service(wanted, port: 9001)) { two in
                let other = try await two.established()
                try expect(other.text == "\(wanted) #2", "the second became \(other)")
                try expect(two.status.wanted == name && two.status.renames == 1, "\(two.status)")
                try expect(one.status.name == name, "the first became \(one.status.name)")
                var watcher = bench.watch()
                _ = try await watcher.found(other) { $0.port?.rawValue == 9001 }
            }
        }
    }
}

import DNSSD
import Discovery

extension EngineConformance {
    static let publishing: [Check] = [
        Check("a name that another host has is given a number (RFC 6762 §9)") { bench in
            try await collide(bench, "remote", first: bench.publisher, second: bench.browser)
        },
        Check("a name that the same host has is given a number") { bench in
            try await collide(bench, "local", first: bench.publisher, second: bench.publisher)
        },
        Check("a taken name is an error when renaming is not wanted") { bench in
            try await bench.publisher.withPublished(try bench.service("taken")) { publication in
                _ = try await publication.established()
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
            let name = try await bench.publisher.withPublished(try bench.service("leaving")) { publication in
                let name = try await publication.established()
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
            let name = try await bench.publisher.withPublished(try bench.service("text", txt: ["v": "1"])) { one in
                let name = try await one.established()
                _ = try await watcher.found(name) { $0.txt.text(for: "v") == "1" }
                return name
            }
            try await bench.publisher.withPublished(try bench.service("text", txt: ["v": "2"])) { two in
                let again = try await two.established()
                try expect(again == name, "it became \(again)")
                _ = try await watcher.found(name) { $0.txt.text(for: "v") == "2" }
            }
        },
        Check("another TXT record is a change and not an end, and is the one that counts (RFC 6762 §8.4)") { bench in
            var watcher = bench.watch()
            try await bench.publisher.withPublished(try bench.service("changing", txt: ["v": "1"])) { publication in
                let name = try await publication.established()
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
            try await bench.publisher.withPublished(try bench.service("moving", txt: ["v": "1"])) { publication in
                let name = try await publication.established()
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

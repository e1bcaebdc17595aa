import DNSSD
import Discovery

extension EngineConformance {
    static let restarting: [Check] = [
        Check("a browser's backend goes and comes back: both are told, nothing is lost", needs: [.restarting]) {
            bench in
            guard let backend = bench.environment.browserBackend else { return }
            try await bench.publisher.withPublished(try bench.service("staying")) { publication in
                let name = try await publication.established()
                var watcher = bench.watch()
                _ = try await watcher.found(name)
                try await watcher.wait(for: "settled") { $0 == .settled ? () : nil }
                try await backend.stop()
                // An outage that is too short is not reported.
                try await watcher.wait(for: "backend lost") { event in
                    if case .backend(.lost) = event { () } else { nil }
                }
                try await backend.start()
                try await watcher.wait(for: "backend recovered") { $0 == .backend(.recovered) ? () : nil }
                // New services appear after the recovery, and those already there were not lost in between.
                try await bench.publisher.withPublished(try bench.service("later")) { later in
                    _ = try await watcher.found(try await later.established())
                }
                let lost = watcher.events.filter { event in
                    if case .lost(let service) = event { service.instance.name == name } else { false }
                }
                try expect(lost.isEmpty, "lost: \(lost)")
            }
        },
        Check("a publisher's backend goes and comes back: the service is established again", needs: [.restarting]) {
            bench in
            guard let backend = bench.environment.publisherBackend else { return }
            try await bench.publisher.withPublished(try bench.service("again")) { publication in
                let name = try await publication.established()
                var updates = publication.updates.makeAsyncIterator()
                try await backend.stop()
                try await updates.wait(for: "waiting") { if case .waiting = $0.state { true } else { false } }
                try await backend.start()
                try await updates.wait(for: "established again") { $0.state == .established && $0.name == name }
                var watcher = bench.watch()
                _ = try await watcher.found(name)
            }
        },
    ]
}

extension PublicationUpdates.AsyncIterator {
    fileprivate mutating func wait(for what: String, _ isRight: (PublicationStatus) -> Bool) async throws {
        while let status = await next() {
            if isRight(status) { return }
            try EngineConformance.expect(!status.state.isFinal, "it ended: \(status.state)")
        }
        throw EngineConformance.Failure("it ended before it was \(what)")
    }
}

import DNSSD
import Discovery

extension EngineConformance {
    static let restarting: [Check] = [
        Check("a browser's backend goes and comes back: both are told, nothing is lost") { bench in
            guard let restart = bench.environment.restartBrowserBackend else { return }
            try await bench.publisher.withPublished(try bench.service("staying")) { publication in
                let name = try await publication.established()
                var watcher = bench.watch()
                _ = try await watcher.found(name)
                try await watcher.wait(for: "settled") { $0 == .settled ? () : nil }
                try await restart()
                try await watcher.wait(for: "backend lost") { event in
                    if case .backend(.lost) = event { () } else { nil }
                }
                try await watcher.wait(for: "backend recovered") { $0 == .backend(.recovered) ? () : nil }
                // What comes after the recovery is seen, and whoever was there before was not lost meanwhile.
                try await bench.publisher.withPublished(try bench.service("later")) { later in
                    _ = try await watcher.found(try await later.established())
                }
                let lost = watcher.events.filter { event in
                    if case .lost(let service) = event { service.instance.name == name } else { false }
                }
                try expect(lost.isEmpty, "lost: \(lost)")
            }
        },
        Check("a publisher's backend goes and comes back: the service is established again") { bench in
            guard let restart = bench.environment.restartPublisherBackend else { return }
            try await bench.publisher.withPublished(try bench.service("again")) { publication in
                let name = try await publication.established()
                var updates = publication.updates.makeAsyncIterator()
                _ = await updates.next()
                try await restart()
                let time = SystemTime()
                let since = time.now
                while let status = await updates.next() {
                    try expect(!status.state.isFinal, "it ended: \(status.state)")
                    if status.state == .established, status.name == name { break }
                    try expect(time.now < since + bench.environment.patience, "not established again")
                }
                var watcher = bench.watch()
                _ = try await watcher.found(name)
            }
        },
    ]
}

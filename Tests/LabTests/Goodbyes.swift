import Foundation
import Testing

/// What services of a type say at their end, as the link has it, whatever browsers on it miss.
struct Goodbyes {
    let listener: LabProcess

    func wait(for names: Set<String>, within limit: Duration) async throws {
        let start = ContinuousClock.now
        while !names.isSubset(of: listener.lines()), start.duration(to: .now) < limit {
            await listener.waitForLines(beyond: listener.lines().count, within: limit - start.duration(to: .now))
        }
        let count = names.subtracting(listener.lines()).count
        #expect(count == 0, "of \(names.count), with this said: \(listener.lines(.stderr))")
        listener.signal(SIGTERM)
    }
}

extension Lab {
    func goodbyes(of type: String, on host: String) async throws -> Goodbyes {
        let listener = try python(host, "goodbyes.py", ["eth0", type])
        try await listener.line { $0 == "ready" }
        return Goodbyes(listener: listener)
    }
}

import Foundation
import Testing

/// What services of a type say at their end, as the link has it, whatever browsers on it miss.
struct Goodbyes {
    let listener: LabProcess

    /// - Parameter silence: how long nothing more may come: avahi-daemon takes its time for each of a thousand.
    func wait(for names: Set<String>, silence: Duration) async throws {
        var heard = 0
        // Each is said once.
        while heard < names.count {
            await listener.waitForLines(beyond: heard + 1, within: silence)
            let now = listener.lines().count - 1
            if now == heard { break }
            heard = now
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

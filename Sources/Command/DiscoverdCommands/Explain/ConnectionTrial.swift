#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import Libc
internal import DiscoverySystem

/// Connects to every address of a service, to say which answer; nothing is sent.
enum ConnectionTrial {
    /// The most addresses that are dialled.
    private static let most = 8

    /// Dials all at the same time.
    /// - Returns: what came of each, in their order.
    static func run(_ endpoints: [Endpoint], within limit: Duration) async -> [Evidence.Attempt] {
        await withTaskGroup(of: (Int, Evidence.Attempt).self) { group in
            for (position, endpoint) in endpoints.prefix(most).enumerated() {
                group.addTask { (position, await attempt(endpoint, within: limit)) }
            }
            var attempts: [(Int, Evidence.Attempt)] = []
            for await attempt in group { attempts.append(attempt) }
            return attempts.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func attempt(_ endpoint: Endpoint, within limit: Duration) async -> Evidence.Attempt {
        let start = ContinuousClock.now
        let (failure, code): (DialFailure?, Int32) = await withTimeLimit(limit) {
            do {
                try await SocketDialer.connected(to: endpoint).close()
                return (nil, 0)
            } catch let error as SystemError {
                return (SocketDialer.failure(error.code), error.code)
            } catch let failure as DialFailure {
                return (failure, 0)
            } catch {
                return (DialFailure(.timeout, "no answer"), 0)
            }
        }
        return Evidence.Attempt(
            endpoint: endpoint, outcome: failure?.outcome ?? .connected, reason: failure?.reason,
            hasNoRoute: [EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN].contains(code),
            milliseconds: (ContinuousClock.now - start).milliseconds)
    }
}
#endif

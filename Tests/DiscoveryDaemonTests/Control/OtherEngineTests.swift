import Discovery
import DiscoverySystem
import DiscoveryTesting
import Glibc
import Testing

@testable import DiscoveryControl

@Suite("What publishes in the place of a daemon without a free connection") struct OtherEngineTests {
    @Test("two publications that are refused at once share one engine")
    func once() async throws {
        let network = SimulatedNetwork()
        let calls = Locked(0)
        let other = try network.addMachine("h1")
        let engine = RemoteEngine(path: "/nowhere/control.sock") {
            calls.withLock { $0 += 1 }
            // All the time for a second one to be made.
            for _ in 0..<100_000 where calls.withLock({ $0 }) < 2 { sched_yield() }
            return other
        }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 { group.addTask { engine.other() as? SimulatedEngine === other } }
            for await isOther in group { #expect(isOther) }
        }
        #expect(calls.withLock { $0 } == 1)
        await engine.shutdown()
    }

    @Test("an engine that has ended makes none")
    func ended() async throws {
        let calls = Locked(0)
        let engine = RemoteEngine(path: "/nowhere/control.sock") {
            calls.withLock { $0 += 1 }
            return nil
        }
        await engine.shutdown()
        #expect(engine.other() == nil)
        #expect(calls.withLock { $0 } == 0)
    }
}

import DiscoverySystem
import Testing

@Suite("A timer of the clock that goes on while the machine sleeps")
struct BootTimerTests {
    @Test("It fires at once when its time has passed, and not after it was freed")
    func fires() async throws {
        let loop = try #require(EventLoop(named: "test"))
        let fired = Locked<[String]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.post {
                guard let freed = BootTimer(loop: loop), let off = BootTimer(loop: loop),
                    let late = BootTimer(loop: loop), let passed = BootTimer(loop: loop)
                else { return continuation.resume() }
                freed.fire = { fired.withLock { $0.append("freed") } }
                off.fire = { fired.withLock { $0.append("off") } }
                passed.fire = {
                    fired.withLock { $0.append("passed") }
                    freed.free()
                    passed.free()
                }
                late.fire = {
                    fired.withLock { $0.append("late") }
                    for timer in [off, late] { timer.free() }
                    continuation.resume()
                }
                freed.set(BootTime.now + .milliseconds(20))
                off.set(BootTime.now + .milliseconds(10))
                off.set(nil)
                late.set(BootTime.now + .milliseconds(40))
                passed.set(BootTime.now - .seconds(1))
                passed.set(.zero)
            }
        }
        #expect(fired.withLock { $0 } == ["passed", "late"])
        await withCheckedContinuation { continuation in loop.stop { continuation.resume() } }
    }
}

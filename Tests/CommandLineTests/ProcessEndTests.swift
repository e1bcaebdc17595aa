import CommandFrame
import Glibc
import Testing

@Suite("The end of a process") struct ProcessEndTests {
    @Test("a second thread that ends it does not cut off what the first has begun")
    func twice() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { _exit(2) }
            let (read, write) = (ends[0], ends[1])
            ProcessEnd.before {
                var byte: UInt8 = 1
                _ = Glibc.write(write, &byte, 1)
                // The other thread has all the time to end the process before.
                for _ in 0..<100_000 { sched_yield() }
                _exit(7)
            }
            try BlockingThread.start { ProcessEnd.now(.done) }
            var byte: UInt8 = 0
            _ = Glibc.read(read, &byte, 1)
            ProcessEnd.now(.notFound)
        }
    }
}

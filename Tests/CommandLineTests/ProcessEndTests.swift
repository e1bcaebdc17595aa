import CommandFrame
import Glibc
import Testing

@Suite("The end of a process") struct ProcessEndTests {
    @Test("a second thread that ends it does not cut off what the first has begun")
    func twice() async {
        await #expect(processExitsWith: .exitCode(7)) {
            ProcessEnd.before {
                usleep(300_000)
                _exit(7)
            }
            try BlockingThread.start { ProcessEnd.now(.done) }
            usleep(50_000)
            ProcessEnd.now(.notFound)
        }
    }
}

#if Commands
import Testing

@testable import discoverd_daemon

@Suite struct DoctorRunTests {
    @Test("a program that has closed its output, and does not end, is waited for no longer")
    func closedOutput() throws {
        let start = ContinuousClock.now
        let lines = try DoctorRun.run(["/bin/sh", "-c", "echo a; exec <&- >&-; exec sleep 20"])
        #expect(lines == Array("a\n".utf8))
        #expect(start.duration(to: .now) < .seconds(15))
    }
}
#endif

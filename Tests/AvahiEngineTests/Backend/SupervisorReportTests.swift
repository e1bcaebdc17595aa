import CSupervisor
import Glibc
import Testing

@testable import AvahiEngine

@Suite struct SupervisorReportTests {
    private func event(_ kind: csupervisor_event_kind, _ value: Int32 = 0) -> csupervisor_event {
        csupervisor_event(kind: Int32(bitPattern: kind.rawValue), value: value)
    }

    @Test func isReadyWhileTheBusListens() {
        var report = SupervisorReport()
        #expect(!report.isReady)
        #expect(report.received(event(CSUPERVISOR_BUS_READY, 7)) == .ready)
        #expect(report.isReady)
        #expect(report.received(event(CSUPERVISOR_BUS_ENDED, 9)) == nil)
        #expect(!report.isReady)
        #expect(report.problem == "the private dbus-daemon ended (signal 9)")
        #expect(report.received(event(CSUPERVISOR_BUS_READY, 8)) == .ready)
        #expect(report.problem == nil)
    }

    @Test func oneEndOfAvahiIsNoProblemThreeInARowAre() {
        var report = SupervisorReport()
        for _ in 0..<2 { _ = report.received(event(CSUPERVISOR_AVAHI_ENDED, 9)) }
        #expect(report.problem == nil)
        report.worked()
        for _ in 0..<2 { _ = report.received(event(CSUPERVISOR_AVAHI_ENDED, 9)) }
        #expect(report.problem == nil)
        _ = report.received(event(CSUPERVISOR_AVAHI_ENDED, 255 << 8))
        #expect(report.problem?.contains("exit status 255") == true)
    }

    @Test func sayWhyAndWhatToDo() {
        var report = SupervisorReport()
        _ = report.received(event(CSUPERVISOR_USER_NAMESPACE_REFUSED, EPERM))
        #expect(report.problem?.contains("Operation not permitted") == true)
        #expect(report.problem?.contains("sysctl") == true)
        _ = report.received(event(CSUPERVISOR_BUS_NOT_RUN, ENOENT))
        #expect(report.problem == "dbus-daemon cannot be run: No such file or directory")
    }

    @Test func ignoresWhatItDoesNotKnow() {
        var report = SupervisorReport()
        #expect(report.received(csupervisor_event(kind: -1, value: 0)) == nil)
        #expect(report.received(csupervisor_event(kind: 9_999, value: 0)) == nil)
        #expect(report.problem == nil)
    }
}

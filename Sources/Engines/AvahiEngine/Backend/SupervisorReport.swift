import CSupervisor
import DNSSD
import DiscoverySystem

/// What a private backend's supervisor has reported so far. A value.
struct SupervisorReport {
    enum Change: Equatable {
        /// The bus accepts connections.
        case ready
    }

    /// The bus is listening.
    private(set) var isReady = false
    /// What is wrong, for people. One silent failure of avahi-daemon is not reported, because it is restarted at once.
    private(set) var problem: String?
    private var avahiEnds = 0

    mutating func received(_ event: csupervisor_event) -> Change? {
        switch csupervisor_event_kind(rawValue: UInt32(bitPattern: event.kind)) {
        case CSUPERVISOR_BUS_READY:
            isReady = true
            problem = nil
            return .ready
        case CSUPERVISOR_BUS_ENDED:
            isReady = false
            problem = "the private dbus-daemon ended (\(Self.ending(event.value)))"
        case CSUPERVISOR_AVAHI_ENDED:
            avahiEnds += 1
            if avahiEnds > 2 { problem = "the private avahi-daemon ends again and again (\(Self.ending(event.value)))" }
        case CSUPERVISOR_BUS_NOT_RUN: problem = "dbus-daemon cannot be run: \(SystemError.text(event.value))"
        case CSUPERVISOR_AVAHI_NOT_RUN: problem = "avahi-daemon cannot be run: \(SystemError.text(event.value))"
        case CSUPERVISOR_USER_NAMESPACE_REFUSED:
            problem = """
                an ordinary user cannot start a private avahi-daemon here, because the system allows no user namespaces \
                (\(SystemError.text(event.value))). Run as root, or allow them (sysctl kernel.unprivileged_userns_clone=1, \
                user.max_user_namespaces above 0, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or install \
                and start the system's avahi-daemon
                """
        case CSUPERVISOR_MOUNT_REFUSED:
            problem = """
                a private avahi-daemon needs a /run of its own, and the system does not allow that here \
                (\(SystemError.text(event.value))): run as root, or install and start the system's avahi-daemon
                """
        case CSUPERVISOR_FAILED:
            problem = "a private avahi-daemon cannot be supervised: \(SystemError.text(event.value))"
        default: break
        }
        return nil
    }

    /// avahi-daemon works: earlier problems are over.
    mutating func worked() {
        avahiEnds = 0
        problem = nil
    }

    /// Describes a status from waitpid(2).
    private static func ending(_ status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "exit status \((status >> 8) & 0xFF)" : "signal \(signal)"
    }
}

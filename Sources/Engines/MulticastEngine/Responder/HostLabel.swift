import DNSMessage
import DiscoverySystem
import Libc

/// This machine's name on its links: another one after each conflict, as avahi-daemon counts them.
struct HostLabel {
    private let label: [UInt8]
    private var number = 1

    init(_ label: String) { self.label = Array(label.utf8) }

    mutating func lost() { number += 1 }

    /// `tony.local`, `tony-2.local` …; nil for what is no label.
    var name: DomainName? {
        let suffix = number > 1 ? Array("-\(number)".utf8) : []
        var text = label.prefix(DomainName.maximumLabelLength - suffix.count)
        // No character is cut in two.
        while !text.isEmpty, String(validating: text, as: UTF8.self) == nil { text = text.dropLast() }
        return try? DomainName(labels: [Array(text) + suffix, Array("local".utf8)])
    }
}

/// Tells when the machine's name changes. Used only on the loop's thread.
@safe final class MachineNameWatch {
    /// Its readers learn of a change by poll(2): POLLERR and POLLPRI (fs/proc/proc_sysctl.c).
    private static let path = "/proc/sys/kernel/hostname"

    private let descriptor: Int32
    private var watch: LoopWatch?

    /// Nil if the system does not tell.
    init?(loop: EventLoop, _ changed: @escaping () -> Void) {
        descriptor = unsafe open(Self.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        watch = LoopWatch(loop: loop, descriptor: descriptor, events: Int16(POLLPRI)) { _ in changed() }
    }

    deinit {
        watch?.free()
        if descriptor >= 0 { close(descriptor) }
    }
}

import CAvahi
import Glibc

/// Tells when interfaces or their addresses have changed, while someone listens. Touched by the loop's thread only.
final class LinkMonitor {
    /// What changes together is told together: an interface comes with several addresses.
    private static let gathering = Duration.milliseconds(150)

    private let loop: AvahiLoop
    private var watch: LoopWatch?
    private var listeners: [ObjectIdentifier: () -> Void] = [:]
    private let timer: LoopTimer

    init(loop: AvahiLoop) {
        self.loop = loop
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in
            guard let self else { return }
            for changed in Array(self.listeners.values) { changed() }
        }
    }

    func listen(_ listener: AnyObject, _ changed: @escaping () -> Void) {
        listeners[ObjectIdentifier(listener)] = changed
        guard watch == nil else { return }
        let descriptor = cavahi_link_monitor()
        // Without it retries find the interface, later.
        guard descriptor >= 0 else { return }
        watch = LoopWatch(loop: loop, descriptor: descriptor, wanted: UInt32(POLLIN)) { [weak self] watch in
            Self.empty(watch.descriptor)
            guard let self, self.timer.deadline == nil else { return }
            self.timer.set(after: Self.gathering)
        }
    }

    func leave(_ listener: AnyObject) {
        listeners[ObjectIdentifier(listener)] = nil
        if listeners.isEmpty { stop() }
    }

    func free() {
        listeners = [:]
        stop()
        timer.free()
    }

    private func stop() {
        timer.deadline = nil
        guard let watch else { return }
        loop.remove(watch)
        close(watch.descriptor)
        self.watch = nil
    }

    /// What changed is looked up when it matters; here it is only noticed, and an overflow is a change as well.
    private static func empty(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 8_192)
        for _ in 0..<64 where unsafe recv(descriptor, &buffer, buffer.count, 0) <= 0 { return }
    }
}

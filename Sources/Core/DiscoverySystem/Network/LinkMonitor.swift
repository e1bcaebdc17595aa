import Libc

/// Reports changes of interfaces or their addresses while it has listeners. Used only on the loop's thread.
package final class LinkMonitor {
    /// Changes within this time are reported together: a new interface gets several addresses.
    private static let gathering = Duration.milliseconds(150)

    private let loop: EventLoop
    private var watch: LoopWatch?
    private var listeners: [ObjectIdentifier: () -> Void] = [:]
    private let timer: LoopTimer

    package init(loop: EventLoop) {
        self.loop = loop
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in
            guard let self else { return }
            for changed in Array(self.listeners.values) { changed() }
        }
    }

    package func listen(_ listener: AnyObject, _ changed: @escaping () -> Void) {
        listeners[ObjectIdentifier(listener)] = changed
        // Without a socket, retries find the interface later.
        guard watch == nil, let descriptor = Self.open() else { return }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { [weak self] watch in
            Self.empty(watch.descriptor)
            guard let self, self.timer.deadline == nil else { return }
            self.timer.set(after: Self.gathering)
        }
    }

    package func leave(_ listener: AnyObject) {
        listeners[ObjectIdentifier(listener)] = nil
        if listeners.isEmpty { stop() }
    }

    package func free() {
        listeners = [:]
        stop()
        timer.free()
    }

    private func stop() {
        timer.deadline = nil
        guard let watch else { return }
        watch.free()
        close(watch.descriptor)
        self.watch = nil
    }

    /// A socket that becomes readable when a link or an address changes (rtnetlink(7)); nil if the system gives none.
    private static func open() -> Int32? {
        guard let descriptor = try? Sockets.make(AF_NETLINK, SOCK_RAW) else { return nil }
        let groups: UInt32 = 0x1 | 0x10 | 0x100  // RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR
        if SocketAddress(netlinkGroups: groups).bind(descriptor) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    /// Only notes that something changed; readers look up what. An overflow counts as a change.
    private static func empty(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 8_192)
        for _ in 0..<64 where unsafe recv(descriptor, &buffer, buffer.count, 0) <= 0 { return }
    }
}

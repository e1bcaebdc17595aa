import CLinux
package import DNSSD
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
        guard let descriptor = try? Sockets.make(AF_NETLINK, .raw) else { return nil }
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

/// The interfaces of this machine that mDNS can use: up, with an address, and multicast or loopback.
package enum SystemInterfaces {
    /// Why nothing is published while no link of a filter is there.
    package static func absence(of filter: InterfaceFilter) -> String {
        let patterns = filter.patterns.joined(separator: ", ").escapedForTerminal
        return patterns.isEmpty ? noneIsUp : "\(noneMatches)\(patterns)"
    }

    /// Whether that is the reason: whoever says so is there, and waits for a link.
    package static func isAbsence(_ reason: String) -> Bool { reason == noneIsUp || reason.hasPrefix(noneMatches) }

    private static let noneIsUp = "no interface is up"
    private static let noneMatches = "no interface that is up matches "

    package static func usable(
        by filter: InterfaceFilter
    ) -> [(interface: NetworkInterface, families: [IPAddress.Family])] {
        var families: [NetworkInterface: Set<IPAddress.Family>] = [:]
        for item in InterfaceAddress.all() ?? [] {
            guard item.has(IFF_UP), item.has(IFF_MULTICAST | IFF_LOOPBACK), let address = item.address,
                filter.allows(item.interface.name)
            else { continue }
            families[item.interface, default: []].insert(address.family)
        }
        return families.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted { $0.rawValue < $1.rawValue }) }
    }

    /// This machine's addresses on the links where it publishes: loopback where there is no other, and a link to one peer if it is named.
    package static func addresses(by filter: InterfaceFilter) -> [(interface: NetworkInterface, address: IPAddress)] {
        let usable = (InterfaceAddress.all() ?? []).filter {
            $0.has(IFF_UP) && $0.has(IFF_MULTICAST | IFF_LOOPBACK) && filter.allows($0.interface.name)
                && !($0.has(IFF_POINTOPOINT) && filter == .all)
        }
        let others = usable.filter { !$0.has(IFF_LOOPBACK) && $0.address != nil }
        return (others.isEmpty ? usable : others).compactMap { item in item.address.map { (item.interface, $0) } }
    }

    /// The usable links with their MTU in bytes, without loopback and links to one peer, on which avahi-daemon does not publish unless told to.
    package static func sizes(of filter: InterfaceFilter) -> [(interface: NetworkInterface, mtu: Int)] {
        let links = (InterfaceAddress.all() ?? []).filter {
            $0.has(IFF_UP) && $0.has(IFF_MULTICAST) && !$0.has(IFF_LOOPBACK | IFF_POINTOPOINT) && $0.address != nil
                && filter.allows($0.interface.name)
        }
        return Set(links.map(\.interface)).sorted().map { ($0, Int(unsafe clinux_mtu($0.name))) }.filter { $0.mtu > 0 }
    }

    /// Whether an interface can receive packets of a family: it is up, with a carrier and an address.
    package static func isReceiving(_ interface: NetworkInterface, over family: IPAddress.Family) -> Bool {
        // If the system does not tell, it counts as usable.
        guard let all = InterfaceAddress.all() else { return true }
        return all.contains {
            $0.has(IFF_UP) && $0.has(IFF_RUNNING) && $0.address?.family == family
                && $0.interface.index == interface.index
        }
    }

    /// The interfaces that are up and have a carrier, as far as the system tells.
    package static func running() -> Set<NetworkInterface> {
        Set((InterfaceAddress.all() ?? []).filter { $0.has(IFF_UP) && $0.has(IFF_RUNNING) }.map(\.interface))
    }

    /// Links to one peer, as tunnels of VPNs are.
    package static func toPeers() -> Set<NetworkInterface> {
        Set((InterfaceAddress.all() ?? []).filter { $0.has(IFF_POINTOPOINT) }.map(\.interface))
    }

    /// All names by interface index.
    package static func namesByIndex() -> [Int32: String] {
        guard let list = unsafe if_nameindex() else { return [:] }
        defer { unsafe if_freenameindex(list) }
        var names: [Int32: String] = [:]
        var next = unsafe list
        while let name = unsafe next.pointee.if_name {
            unsafe names[Int32(bitPattern: next.pointee.if_index)] = String(cString: name)
            unsafe next += 1
        }
        return names
    }
}

/// Makes the kernel drop what reaches a listening socket through other interfaces: a client there gets no answer at
/// all.
///
/// The interface counts, not the address: Linux accepts packets for any local address on every interface, and addresses
/// come and go. Loopback always passes, because it carries this machine's own connections; `admits` checks the address
/// that they use.
package struct InterfaceLimit: Sendable {
    private let interfaces: InterfaceFilter

    /// Nil if every interface is allowed.
    package init?(_ interfaces: InterfaceFilter) {
        guard interfaces != .all else { return nil }
        self.interfaces = interfaces
    }

    /// Applies the limit to a socket that does not listen yet. Apply it again after each change that `watch` reports.
    /// - Returns: 0 or an `errno`.
    package func apply(to listener: Int32) -> Int32 {
        let names = SystemInterfaces.namesByIndex()
        // Every machine has an interface: none means that the system does not tell.
        guard !names.isEmpty else { return ENODEV }
        let indexes = names.filter { interfaces.allows($0.value) }.map { UInt32(bitPattern: $0.key) }
        return unsafe ckernel_take_only(listener, indexes, Int32(clamping: indexes.count)) == 0 ? 0 : errno
    }

    /// Whether to keep an accepted connection. Also lifts the limit from it: it survives a rename of its interface.
    package func admits(_ connection: Int32) -> Bool {
        ckernel_take_all(connection)
        var name = [CChar](repeating: 0, count: 16)
        guard unsafe ckernel_arrival(connection, &name) == 0 else { return false }
        return interfaces.allows(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// A non-blocking descriptor that becomes readable when interfaces change; ignore what it reads. The caller closes
    /// it.
    /// - Returns: -1 with `errno` on failure.
    package static func watch() -> Int32 { ckernel_watch_interfaces(false) }

    /// The same for interfaces, addresses and routes.
    package static func watchAll() -> Int32 { ckernel_watch_interfaces(true) }
}

import DNSSD
import Discovery
import DiscoverySystem
import Libc
import NIOCore
import NIOPosix

/// A datagram socket for each address of this machine, all with one port, on one event loop.
final class DatagramSockets: Sendable {
    typealias Initializer = @Sendable (any Channel) -> EventLoopFuture<Void>

    private enum Slot {
        case opening
        case open(any Channel)
    }

    private struct State {
        var slots: [IPAddress: Slot] = [:]
        var port: Int?
        var isClosed = false
    }

    /// How often a free port is looked for that all addresses have.
    private static let tries = 16

    private let loop: any NIOCore.EventLoop
    private let interfaces: InterfaceFilter
    private let family: IPAddress.Family?
    private let initializer: Initializer
    private let end: EventLoopPromise<Void>
    private let state = Locked(State())

    init(
        _ loop: any NIOCore.EventLoop, _ interfaces: InterfaceFilter, _ family: IPAddress.Family?,
        _ initializer: @escaping Initializer
    ) {
        (self.loop, self.interfaces, self.family, self.initializer) = (loop, interfaces, family, initializer)
        end = loop.makePromise()
    }

    deinit { close() }

    var addresses: Set<IPAddress> {
        state.withLock { state in
            Set(state.slots.compactMap { address, slot in if case .open = slot { address } else { nil } })
        }
    }

    /// Opens all sockets, and follows the addresses from then on.
    /// - Parameter port: nil takes one that is free at all addresses.
    /// - Throws: `ServerSocket.Failure` if no address can be bound.
    func open(at port: Port?) async throws -> Port {
        do {
            // Watch before listing, so that no change is missed.
            try await SystemChanges.watch(
                InterfaceLimit.watchAll(), gathering: SystemChanges.moment, on: loop, until: end.futureResult
            ) { [weak self] in self?.follow() }.get()
            for attempt in 1...Self.tries {
                do {
                    return try await openAll(at: port)
                } catch let failure as ServerSocket.Failure {
                    closeAll()
                    guard port == nil, failure.errnoCode == EADDRINUSE, attempt < Self.tries else { throw failure }
                }
            }
            throw ServerSocket.Failure(family ?? .ipv4, IOError(errnoCode: EADDRINUSE, reason: "bind"))
        } catch {
            close()
            throw error
        }
    }

    private func openAll(at port: Port?) async throws -> Port {
        var number = port.map { Int($0.rawValue) } ?? 0
        var last = IOError(errnoCode: EADDRNOTAVAIL, reason: "bind")
        for address in wanted.sorted(by: { $0.description < $1.description }) {
            do {
                let channel = try await bind(address, number).get()
                guard add(channel, at: address) else { throw ChannelError.alreadyClosed }
                number = channel.localAddress?.port ?? number
            } catch let error as IOError {
                // An address that is still being checked cannot be bound (RFC 4862 §5.4); the system tells when it can.
                guard error.errnoCode == EADDRNOTAVAIL else { throw ServerSocket.Failure(address.family, error) }
                last = error
            }
        }
        guard !addresses.isEmpty else { throw ServerSocket.Failure(family ?? .ipv4, last) }
        state.withLock { $0.port = number }
        // What has changed since the addresses were listed was told before there was a port.
        follow()
        return try Port(number)
    }

    /// The addresses that are to have a socket.
    private var wanted: Set<IPAddress> {
        Set(
            LocalAddresses.system().entries
                .filter { interfaces.allows($0.interface.name) && (family == nil || $0.address.family == family) }
                .map(\.address))
    }

    /// Opens sockets of new addresses and closes those of old ones.
    private func follow() {
        let wanted = wanted
        let (port, new, old) = state.withLock { state -> (Int?, [IPAddress], [any Channel]) in
            guard let port = state.port, !state.isClosed else { return (nil, [], []) }
            let new = wanted.subtracting(state.slots.keys)
            for address in new { state.slots[address] = .opening }
            var old: [any Channel] = []
            for (address, slot) in state.slots where !wanted.contains(address) {
                if case .open(let channel) = slot { old.append(channel) }
                state.slots[address] = nil
            }
            return (port, Array(new), old)
        }
        for channel in old { channel.close(promise: nil) }
        guard let port else { return }
        for address in new {
            bind(address, port).whenComplete { result in
                guard case .success(let channel) = result, self.add(channel, at: address) else {
                    // The next change tries again.
                    self.state.withLock { $0.slots[address] = nil }
                    if case .success(let channel) = result { channel.close(promise: nil) }
                    return
                }
            }
        }
    }

    private func bind(_ address: IPAddress, _ port: Int) -> EventLoopFuture<any Channel> {
        do {
            let local = try NIOCore.SocketAddress(ipAddress: address.text(scopedTo: nil), port: port)
            return DatagramBootstrap(group: loop)
                .channelOption(.recvAllocator, value: Datagram.allocator)
                .channelInitializer(initializer)
                .bind(to: local)
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    /// - Returns: false where it is not wanted any more.
    private func add(_ channel: any Channel, at address: IPAddress) -> Bool {
        let isWanted = state.withLock { state in
            guard !state.isClosed, state.port == nil || state.slots[address] != nil else { return false }
            state.slots[address] = .open(channel)
            return true
        }
        guard isWanted else { return false }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { state in
                if case .open(let now)? = state.slots[address], now === channel { state.slots[address] = nil }
            }
        }
        return true
    }

    @discardableResult
    private func closeAll() -> [any Channel] {
        let channels: [any Channel] = state.withLock { state in
            defer { state.slots = [:] }
            return state.slots.values.compactMap { if case .open(let channel) = $0 { channel } else { nil } }
        }
        for channel in channels { channel.close(promise: nil) }
        return channels
    }

    /// Closes all sockets; no more are opened.
    /// - Returns: those that are being closed.
    @discardableResult
    func close() -> [any Channel] {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isFirst { end.succeed() }
        return closeAll()
    }
}

import DNSSD
import Discovery
import DiscoveryPOSIX
public import Foundation

extension NetService {
    /// Resolves host, port, TXT record and every address, for `timeout` seconds; 0 means no limit.
    ///
    /// `netServiceWillResolve` follows, then `netServiceDidResolveAddress`, again if further addresses become known, and
    /// `netServiceDidStop` when the time is over; or `didNotResolve`: `timeoutError`, `notFoundError` if the service was there and went,
    /// `badArgumentError`, `activityInProgress`.
    public func resolve(withTimeout timeout: TimeInterval) {
        guard case .none = activity else {
            return refuse(.activityInProgress) { $0.netService($1, didNotResolve: $2) }
        }
        let instance: ServiceInstance
        do throws(DiscoveryError) {
            instance = try self.instance()
        } catch {
            failure = error
            return refuse(ErrorCode(error)) { $0.netService($1, didNotResolve: $2) }
        }
        lastActivity += 1
        let id = lastActivity
        activity = .resolving(id)
        let limit: Duration? = timeout > 0 && timeout < 1e9 ? .seconds(timeout) : nil
        let (delivery, this, before) = (delivery, RunLoopBound(self), task)
        task = Task { [network] in
            await before?.value
            await delivery.deliver { this.object.map { $0.delegate?.netServiceWillResolve($0) } }
            let resolution = Resolving(instance, within: limit, network)
            await resolution.run { event in
                await delivery.deliver { this.object?.resolving(id, tells: event) }
            }
        }
    }

    private func resolving(_ id: UInt64, tells event: Resolving.Event) {
        guard case .resolving(id) = activity else { return }
        switch event {
        case .resolved(let service):
            take(service)
            delegate?.netServiceDidResolveAddress(self)
        case .failed(let error):
            failure = error
            activity = .none
            delegate?.netService(self, didNotResolve: Self.dictionary(ErrorCode(error)))
        case .ended:
            activity = .none
            delegate?.netServiceDidStop(self)
        }
    }

    private func take(_ service: DiscoveredService) {
        resolved = service
        hostName = service.host.map { "\($0.text)." }
        port = service.port.map { Int($0.rawValue) } ?? -1
        addresses = service.endpoints.map(\.socketAddress)
        txt = service.txt
    }
}

/// Resolves one service for a limited time.
struct Resolving: Sendable {
    enum Event: Sendable {
        case resolved(DiscoveredService)
        case failed(DiscoveryError)
        /// The time is over, and the service was resolved.
        case ended
    }

    private let instance: ServiceInstance
    private let limit: Duration?
    private let network: LocalNetwork

    init(_ instance: ServiceInstance, within limit: Duration?, _ network: LocalNetwork) {
        (self.instance, self.limit, self.network) = (instance, limit, network)
    }

    func run(_ tell: @Sendable (Event) async -> Void) async {
        let time = network.directory.time
        let deadline = limit.map { time.now + $0 }
        do throws(DiscoveryError) {
            var known = try await network.resolve(instance, within: limit ?? .seconds(1e9))
            guard known.state == .resolved else {
                throw DiscoveryError(.notFound, "\(instance.name) is not offered: its port is 0 (RFC 6763 §8)")
            }
            await tell(.resolved(known))
            let query = ServiceQuery(.instance(instance), resolution: .watch)
            var events = network.browse(query).makeAsyncIterator()
            while let event = try await Self.next(&events, until: deadline) {
                guard case .found(let service) = event.changed, service.hasNews(after: known) else { continue }
                known = service
                await tell(.resolved(service))
            }
            await tell(.ended)
        } catch {
            await tell(.failed(error))
        }
    }

    /// Nil if the deadline has passed or the task is cancelled.
    private static func next(
        _ events: inout ServiceEvents.AsyncIterator, until deadline: Duration?
    ) async throws(DiscoveryError) -> ServiceEvent? {
        guard let deadline else { return try await events.next() }
        return try await events.nextBatch(atMost: 1, until: deadline)?.first
    }
}

extension ServiceEvent {
    /// The event as a change, whether it was found or changed.
    fileprivate var changed: ServiceEvent {
        if case .changed(let service) = self { .found(service) } else { self }
    }
}

extension DiscoveredService {
    /// Whether there is a new address to dial.
    fileprivate func hasNews(after other: DiscoveredService) -> Bool {
        guard state == .resolved else { return false }
        return host != other.host || port != other.port || !Set(endpoints).isSubset(of: other.endpoints)
    }
}

extension Endpoint {
    /// The address as `sockaddr_in` or `sockaddr_in6` for connect(2), with the scope of a link-local one.
    var socketAddress: Data {
        SocketAddress(address, port: port.rawValue).withPointer { Data(bytes: $0, count: Int($1)) }
    }
}

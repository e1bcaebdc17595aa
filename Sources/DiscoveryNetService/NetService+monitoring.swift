import DNSSD
import Discovery
import Foundation

extension NetService {
    /// Follows the TXT record until `stopMonitoring()`: the delegate is given it at first and whenever it changes. Goes
    /// on beside publishing and resolving, and through the service's absence.
    public func startMonitoring() {
        guard monitor == nil else { return }
        let instance: ServiceInstance
        do throws(DiscoveryError) {
            instance = try self.instance()
        } catch {
            failure = error
            return
        }
        let (delivery, this) = (delivery, RunLoopBound(self))
        lastMonitor += 1
        let id = lastMonitor
        monitor = Task { [network] in
            var told: TXTRecord?
            let events = network.browse(ServiceQuery(.instance(instance), resolution: .watch))
            do throws(DiscoveryError) {
                for try await event in events {
                    guard let service = event.resolved, service.txt != told else { continue }
                    told = service.txt
                    await delivery.deliver { this.object?.updated(service.txt, by: id) }
                }
            } catch {
                // The network was shut down: there is nobody to follow.
            }
        }
    }

    /// Ends what `startMonitoring()` began; no call follows.
    public func stopMonitoring() {
        monitor?.cancel()
        monitor = nil
        lastMonitor += 1
    }

    private func updated(_ record: TXTRecord, by id: UInt64) {
        guard id == lastMonitor else { return }
        // One's own is what was set, not what the network says of it.
        if case .publishing = activity {} else { txt = record }
        delegate?.netService(self, didUpdateTXTRecord: record.wire)
    }
}

extension ServiceEvent {
    /// The service of an event that has its TXT record.
    fileprivate var resolved: DiscoveredService? {
        switch self {
        case .found(let service), .changed(let service): service.state == .found ? nil : service
        case .lost, .settled, .backend, .degraded: nil
        }
    }
}

import DNSSD
import Discovery
import Foundation

extension NetService {
    /// Follows the TXT record until `stopMonitoring()`: the delegate receives it at the start and after every change. Continues during
    /// publishing and resolving, and while the service is absent.
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
                // The network was shut down: there is no one to follow.
            }
        }
    }

    /// Ends monitoring; no further calls follow.
    public func stopMonitoring() {
        monitor?.cancel()
        monitor = nil
        lastMonitor += 1
    }

    private func updated(_ record: TXTRecord, by id: UInt64) {
        guard id == lastMonitor else { return }
        // Our own record is what was set, not what the network reports.
        if case .publishing = activity {} else { txt = record }
        delegate?.netService(self, didUpdateTXTRecord: record.wire)
    }
}

extension ServiceEvent {
    /// The event's service, if its TXT record is known.
    fileprivate var resolved: DiscoveredService? {
        switch self {
        case .found(let service), .changed(let service): service.state == .found ? nil : service
        case .lost, .settled, .backend, .degraded: nil
        }
    }
}

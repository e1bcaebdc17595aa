public import DNSSD
public import Discovery
public import Foundation

/// Searches for services or domains, under Foundation's old name; one search at a time.
///
/// It belongs to one thread: use it where its run loop runs (`schedule(in:forMode:)`); its delegate is called there too. Dropping the last
/// reference ends the search.
open class NetServiceBrowser: NSObject {
    /// Receives the calls; not retained.
    open weak var delegate: (any NetServiceBrowserDelegate)?
    /// Has no effect: Linux has no peer-to-peer Wi-Fi of this kind.
    open var includesPeerToPeer = false
    /// Why the last search failed, in words.
    public private(set) var failure: DiscoveryError?
    /// The network to use: this machine's avahi-daemon, or another one that is set before a search.
    public var network: LocalNetwork {
        get { givenNetwork ?? SharedNetwork.network }
        set { givenNetwork = newValue }
    }

    private let delivery = RunLoopDelivery.scheduled()
    private var givenNetwork: LocalNetwork?
    private var task: Task<Void, Never>?
    /// The number of the current search, which its events carry.
    private var search: UInt64?
    private var lastSearch: UInt64 = 0
    /// The services found, so that the same object is passed when one goes.
    private var services: [ServiceInstance: NetService] = [:]

    /// Creates an idle browser.
    public override init() { super.init() }

    deinit { task?.cancel() }

    /// Schedules the delegate's calls in a mode of a run loop; see `NetService.schedule(in:forMode:)`.
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        delivery.schedule(in: aRunLoop, forMode: mode)
    }

    /// Removes a mode; without any mode, the delegate is not called until one is added.
    open func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        delivery.remove(from: aRunLoop, forMode: mode)
    }

    /// Searches for services of a type, `_http._tcp` or `_printer._sub._http._tcp`, until `stop()`. An empty domain means `local`. Services
    /// are found by name, without resolving them.
    open func searchForServices(ofType type: String, inDomain domainString: String) {
        guard search == nil else { return refuse(.activityInProgress) }
        do throws(DiscoveryError) {
            let domain = domainString.isEmpty ? .local : try Domain(domainString)
            let query = ServiceQuery(.type(try ServiceType.toBrowse(type), domain), resolution: .none)
            run(network.browse(query)) { SearchNews($0) }
        } catch {
            failure = error
            refuse(NetService.ErrorCode(error))
        }
    }

    /// Searches for domains to browse, until `stop()`.
    open func searchForBrowsableDomains() { searchForDomains(.browsing) }

    /// Searches for domains to publish in, until `stop()`.
    open func searchForRegistrationDomains() { searchForDomains(.registration) }

    /// Ends the search; `netServiceBrowserDidStopSearch` follows, and nothing else from the search.
    open func stop() {
        guard search != nil else { return }
        search = nil
        services = [:]
        task?.cancel()
        delivery.post { [this = RunLoopBound(self)] in
            this.object.map { $0.delegate?.netServiceBrowserDidStopSearch($0) }
        }
    }

    private func searchForDomains(_ purpose: DomainQuery.Purpose) {
        guard search == nil else { return refuse(.activityInProgress) }
        run(network.domains(DomainQuery(purpose))) { SearchNews($0) }
    }

    private func run<Event>(_ events: EventStream<Event>, _ news: @escaping @Sendable (Event) -> SearchNews?) {
        lastSearch += 1
        let id = lastSearch
        search = id
        let (delivery, this, time) = (delivery, RunLoopBound(self), network.directory.time)
        task = Task {
            await delivery.deliver { this.object.map { $0.delegate?.netServiceBrowserWillSearch($0) } }
            let error = await SearchNews.follow(events, time: time, news) { findings in
                await delivery.deliver { this.object?.found(findings, by: id) }
            }
            guard let error else { return }
            await delivery.deliver { this.object?.failed(error, id) }
        }
    }

    private func found(_ findings: [Finding], by id: UInt64) {
        for (index, finding) in findings.enumerated() {
            // The delegate may have stopped the search.
            guard search == id else { return }
            let moreComing = index < findings.count - 1
            switch finding {
            case .found(let instance):
                let service = NetService(found: instance, network)
                services[instance] = service
                delegate?.netServiceBrowser(self, didFind: service, moreComing: moreComing)
            case .lost(let instance):
                let service = services.removeValue(forKey: instance) ?? NetService(found: instance, network)
                delegate?.netServiceBrowser(self, didRemove: service, moreComing: moreComing)
            case .foundDomain(let domain):
                delegate?.netServiceBrowser(self, didFindDomain: "\(domain.text).", moreComing: moreComing)
            case .lostDomain(let domain):
                delegate?.netServiceBrowser(self, didRemoveDomain: "\(domain.text).", moreComing: moreComing)
            }
        }
    }

    private func failed(_ error: DiscoveryError, _ id: UInt64) {
        guard search == id else { return }
        failure = error
        search = nil
        services = [:]
        delegate?.netServiceBrowser(self, didNotSearch: NetService.dictionary(NetService.ErrorCode(error)))
    }

    private func refuse(_ code: NetService.ErrorCode) {
        delivery.post { [this = RunLoopBound(self)] in
            this.object.map { $0.delegate?.netServiceBrowser($0, didNotSearch: NetService.dictionary(code)) }
        }
    }
}

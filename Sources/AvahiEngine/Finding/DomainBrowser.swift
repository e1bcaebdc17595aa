import CAvahi
import DNSSD
import Discovery

/// One `AvahiDomainBrowser` (avahi-client/lookup.h). Touched by the loop's thread only.
@safe final class DomainBrowser {
    private let connection: AvahiConnection
    private var object: AvahiObject?
    private let report: (PresenceBrowserEvent<Domain>) -> Void

    init(
        on connection: AvahiConnection, purpose: DomainQuery.Purpose,
        report: @escaping (PresenceBrowserEvent<Domain>) -> Void
    ) throws(DiscoveryError) {
        self.connection = connection
        self.report = report
        guard let client = unsafe connection.pointer else { throw DiscoveryError(.backendUnavailable, "not connected") }
        let kind = purpose == .browsing ? AVAHI_DOMAIN_BROWSER_BROWSE : AVAHI_DOMAIN_BROWSER_REGISTER
        let made = unsafe avahi_domain_browser_new(
            client, AvahiPath.anyInterface, AvahiPath.avahiProtocol(nil), nil, kind, AvahiLookupFlags(rawValue: 0),
            { _, interface, _, event, domain, _, userdata in
                guard let userdata = unsafe userdata else { return }
                let browser = unsafe Unmanaged<DomainBrowser>.fromOpaque(userdata).takeUnretainedValue()
                browser.received(event, unsafe domain.map { unsafe String(cString: $0) } ?? "", interface)
            }, Unmanaged.passUnretained(self).toOpaque())
        object = try unsafe AvahiObject(on: connection, made, during: "cannot browse for domains") {
            unsafe avahi_domain_browser_free($0)
        }
    }

    private func received(_ event: AvahiBrowserEvent, _ domain: String, _ interface: Int32) {
        switch event {
        case AVAHI_BROWSER_NEW, AVAHI_BROWSER_REMOVE:
            guard let domain = Domain(observed: domain) else { return }
            // Statically configured ones have no interface.
            let path = PresencePath(index: interface, family: nil)
            report(event == AVAHI_BROWSER_NEW ? .appeared(domain, path) : .disappeared(domain, path))
        case AVAHI_BROWSER_CACHE_EXHAUSTED: break
        case AVAHI_BROWSER_ALL_FOR_NOW: report(.allForNow)
        default: report(.failed(connection.lastError(during: "browsing for domains ended")))
        }
    }
}

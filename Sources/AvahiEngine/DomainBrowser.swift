import CAvahi
import DNSSD
import Discovery

/// One `AvahiDomainBrowser` (avahi-client/lookup.h). Touched by the loop's thread only.
@safe final class DomainBrowser {
    enum Event {
        /// A domain in escaped presentation form. Statically configured ones have no interface.
        case appeared(String, interface: Int32)
        case disappeared(String, interface: Int32)
        case allForNow
        case failed(DiscoveryError)
    }

    private let connection: AvahiConnection
    private var pointer: OpaquePointer?
    private let report: (Event) -> Void

    init(
        on connection: AvahiConnection, purpose: DomainQuery.Purpose, report: @escaping (Event) -> Void
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
        guard let made = unsafe made else { throw connection.lastError(during: "cannot browse for domains") }
        unsafe pointer = made
        connection.objectCount += 1
    }

    private func received(_ event: AvahiBrowserEvent, _ domain: String, _ interface: Int32) {
        switch event {
        case AVAHI_BROWSER_NEW: report(.appeared(domain, interface: interface))
        case AVAHI_BROWSER_REMOVE: report(.disappeared(domain, interface: interface))
        case AVAHI_BROWSER_CACHE_EXHAUSTED: break
        case AVAHI_BROWSER_ALL_FOR_NOW: report(.allForNow)
        default: report(.failed(connection.lastError(during: "browsing for domains ended")))
        }
    }

    func free() {
        guard let browser = unsafe pointer else { return }
        unsafe pointer = nil
        guard connection.isOpen else { return }
        unsafe avahi_domain_browser_free(browser)
        connection.objectCount -= 1
    }

    deinit { free() }
}

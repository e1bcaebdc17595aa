import CAvahi
import DNSSD

/// One `AvahiServiceTypeBrowser` (avahi-client/lookup.h). Touched by the loop's thread only.
@safe final class TypeBrowser {
    enum Event {
        /// The type in escaped presentation form, and its domain.
        case appeared(type: String, domain: String, AvahiPath)
        case disappeared(type: String, domain: String, AvahiPath)
        case allForNow
        case failed(DiscoveryError)
    }

    private let connection: AvahiConnection
    private var pointer: OpaquePointer?
    private let report: (Event) -> Void

    init(
        on connection: AvahiConnection, domain: Domain, family: IPAddress.Family?, report: @escaping (Event) -> Void
    ) throws(DiscoveryError) {
        self.connection = connection
        self.report = report
        guard let client = unsafe connection.pointer else { throw DiscoveryError(.backendUnavailable, "not connected") }
        let made = unsafe avahi_service_type_browser_new(
            client, AvahiPath.anyInterface, AvahiPath.avahiProtocol(family), domain.name, AvahiLookupFlags(rawValue: 0),
            { _, interface, proto, event, type, domain, flags, userdata in
                guard let userdata = unsafe userdata else { return }
                let browser = unsafe Unmanaged<TypeBrowser>.fromOpaque(userdata).takeUnretainedValue()
                let type = unsafe type.map { unsafe String(cString: $0) } ?? ""
                let domain = unsafe domain.map { unsafe String(cString: $0) } ?? ""
                let path = AvahiPath(interface: interface, avahiProtocol: proto, flags: flags)
                browser.received(event, type: type, domain: domain, path)
            }, Unmanaged.passUnretained(self).toOpaque())
        guard let made = unsafe made else { throw connection.lastError(during: "cannot browse for types in \(domain)") }
        unsafe pointer = made
        connection.objectCount += 1
    }

    private func received(_ event: AvahiBrowserEvent, type: String, domain: String, _ path: AvahiPath?) {
        switch event {
        case AVAHI_BROWSER_NEW: if let path { report(.appeared(type: type, domain: domain, path)) }
        case AVAHI_BROWSER_REMOVE: if let path { report(.disappeared(type: type, domain: domain, path)) }
        case AVAHI_BROWSER_CACHE_EXHAUSTED: break
        case AVAHI_BROWSER_ALL_FOR_NOW: report(.allForNow)
        default: report(.failed(connection.lastError(during: "browsing for types ended")))
        }
    }

    func free() {
        guard let browser = unsafe pointer else { return }
        unsafe pointer = nil
        guard connection.isOpen else { return }
        unsafe avahi_service_type_browser_free(browser)
        connection.objectCount -= 1
    }

    deinit { free() }
}

import CAvahi
import DNSSD

/// One `AvahiServiceBrowser` (avahi-client/lookup.h). Touched by the loop's thread only.
@safe final class ServiceBrowser {
    enum Event {
        case appeared(name: String, AvahiPath)
        case disappeared(name: String, AvahiPath)
        /// Avahi's cache has been reported.
        case cacheExhausted
        /// Avahi waited a second for answers: a timer, not a guarantee.
        case allForNow
        case failed(DiscoveryError)
    }

    private let connection: AvahiConnection
    private var object: AvahiObject?
    private let report: (Event) -> Void
    private var browsed: BrowsedType

    init(
        on connection: AvahiConnection, type: ServiceType, domain: Domain, family: IPAddress.Family?,
        report: @escaping (Event) -> Void
    ) throws(DiscoveryError) {
        self.connection = connection
        self.report = report
        browsed = BrowsedType(type, in: domain)
        let type = try type.checkedForAvahi()
        guard let client = unsafe connection.pointer else { throw DiscoveryError(.backendUnavailable, "not connected") }
        let made = unsafe avahi_service_browser_new(
            client, AvahiPath.anyInterface, AvahiPath.avahiProtocol(family), type.description, domain.name,
            AvahiLookupFlags(rawValue: 0),
            { _, interface, proto, event, name, type, domain, flags, userdata in
                guard let userdata = unsafe userdata else { return }
                let browser = unsafe Unmanaged<ServiceBrowser>.fromOpaque(userdata).takeUnretainedValue()
                func text(_ pointer: UnsafePointer<CChar>?) -> String {
                    unsafe pointer.map { unsafe String(cString: $0) } ?? ""
                }
                if event == AVAHI_BROWSER_NEW || event == AVAHI_BROWSER_REMOVE {
                    guard unsafe browser.browsed.includes(type: text(type), domain: text(domain)) else { return }
                }
                browser.received(
                    event, name: unsafe text(name),
                    AvahiPath(interface: interface, avahiProtocol: proto, flags: flags))
            }, Unmanaged.passUnretained(self).toOpaque())
        object = try unsafe AvahiObject(on: connection, made, during: "cannot browse for \(type)") {
            unsafe avahi_service_browser_free($0)
        }
    }

    private func received(_ event: AvahiBrowserEvent, name: String, _ path: AvahiPath?) {
        switch event {
        case AVAHI_BROWSER_NEW: if let path { report(.appeared(name: name, path)) }
        case AVAHI_BROWSER_REMOVE: if let path { report(.disappeared(name: name, path)) }
        case AVAHI_BROWSER_CACHE_EXHAUSTED: report(.cacheExhausted)
        case AVAHI_BROWSER_ALL_FOR_NOW: report(.allForNow)
        default: report(.failed(connection.lastError(during: "browsing ended")))
        }
    }

    func free() { object?.free() }
}

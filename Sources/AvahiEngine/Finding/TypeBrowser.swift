import CAvahi
import DNSSD
import Discovery

/// One `AvahiServiceTypeBrowser` (avahi-client/lookup.h). Touched by the loop's thread only.
@safe final class TypeBrowser {
    private let connection: AvahiConnection
    private var object: AvahiObject?
    private let report: (PresenceBrowserEvent<TypeKey>) -> Void

    init(
        on connection: AvahiConnection, domain: Domain, family: IPAddress.Family?,
        report: @escaping (PresenceBrowserEvent<TypeKey>) -> Void
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
        object = try unsafe AvahiObject(on: connection, made, during: "cannot browse for types in \(domain)") {
            unsafe avahi_service_type_browser_free($0)
        }
    }

    private func received(_ event: AvahiBrowserEvent, type: String, domain: String, _ path: AvahiPath?) {
        switch event {
        case AVAHI_BROWSER_NEW, AVAHI_BROWSER_REMOVE:
            guard let path, let type = ServiceType(observed: type), let domain = Domain(observed: domain) else {
                return
            }
            let key = TypeKey(type: type, domain: domain)
            let seen = PresencePath(index: path.index, family: path.family)
            report(event == AVAHI_BROWSER_NEW ? .appeared(key, seen) : .disappeared(key, seen))
        case AVAHI_BROWSER_CACHE_EXHAUSTED: break
        case AVAHI_BROWSER_ALL_FOR_NOW: report(.allForNow)
        default: report(.failed(connection.lastError(during: "browsing for types ended")))
        }
    }
}

import CAvahi
import DNSSD

/// One `AvahiRecordBrowser` for the A or AAAA records of a host on one interface, over both families. Touched by the loop's thread only.
@safe final class RecordBrowser {
    enum Event: Sendable {
        case appeared([UInt8], AvahiPath)
        case disappeared([UInt8], AvahiPath)
        case cacheExhausted
        case allForNow
        case failed(DiscoveryError)
    }

    /// Record types (RFC 1035 §3.2.2, RFC 3596 §2.1).
    enum Kind: UInt16, Sendable {
        case a = 1
        case aaaa = 28
    }

    private static let internetClass: UInt16 = 1

    private let connection: AvahiConnection
    private var object: AvahiObject?
    private let report: (Event) -> Void

    init(
        on connection: AvahiConnection, host: HostName, kind: Kind, interface: NetworkInterface,
        report: @escaping (Event) -> Void
    ) throws(DiscoveryError) {
        self.connection = connection
        self.report = report
        guard let client = unsafe connection.pointer else { throw DiscoveryError(.backendUnavailable, "not connected") }
        let made = unsafe avahi_record_browser_new(
            client, AvahiIfIndex(interface.index), AvahiPath.avahiProtocol(nil), host.name, Self.internetClass,
            kind.rawValue, AvahiLookupFlags(rawValue: 0),
            { _, interface, proto, event, _, _, _, data, size, flags, userdata in
                guard let userdata = unsafe userdata else { return }
                let browser = unsafe Unmanaged<RecordBrowser>.fromOpaque(userdata).takeUnretainedValue()
                let bytes = unsafe data.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: size)) } ?? []
                browser.received(event, bytes, AvahiPath(interface: interface, avahiProtocol: proto, flags: flags))
            }, Unmanaged.passUnretained(self).toOpaque())
        object = try unsafe AvahiObject(on: connection, made, during: "cannot look up \(host)") {
            unsafe avahi_record_browser_free($0)
        }
    }

    private func received(_ event: AvahiBrowserEvent, _ bytes: [UInt8], _ path: AvahiPath?) {
        switch event {
        case AVAHI_BROWSER_NEW: if let path { report(.appeared(bytes, path)) }
        case AVAHI_BROWSER_REMOVE: if let path { report(.disappeared(bytes, path)) }
        case AVAHI_BROWSER_CACHE_EXHAUSTED: report(.cacheExhausted)
        case AVAHI_BROWSER_ALL_FOR_NOW: report(.allForNow)
        default: report(.failed(connection.lastError(during: "looking up addresses ended")))
        }
    }

    func free() { object?.free() }
}

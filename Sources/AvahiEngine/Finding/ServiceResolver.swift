import CAvahi
import DNSSD

/// One `AvahiServiceResolver` (avahi-client/lookup.h), for SRV and TXT. Touched by the loop's thread only.
///
/// Addresses are left to `HostTracker`: a resolver tells one address only. A resolver stays alive after it has found something and
/// tells again when SRV or TXT change; it also stays alive after its time-out of 5 s.
@safe final class ServiceResolver {
    enum Event: Sendable {
        /// `isLocal`: it is published on this machine.
        case found(host: String, port: UInt16, txt: [[UInt8]], isLocal: Bool)
        case failed(DiscoveryError)
    }

    private let connection: AvahiConnection
    private var object: AvahiObject?
    private let report: (Event) -> Void

    init(
        on connection: AvahiConnection, instance: ServiceInstance, interface: NetworkInterface,
        family: IPAddress.Family, report: @escaping (Event) -> Void
    ) throws(DiscoveryError) {
        self.connection = connection
        self.report = report
        guard let client = unsafe connection.pointer else { throw DiscoveryError(.backendUnavailable, "not connected") }
        let made = unsafe avahi_service_resolver_new(
            client, AvahiIfIndex(interface.index), AvahiPath.avahiProtocol(family), instance.name.value,
            instance.type.description, instance.domain.name, AvahiProtocol(AVAHI_PROTO_UNSPEC),
            AVAHI_LOOKUP_NO_ADDRESS,
            { _, _, _, event, _, _, _, host, _, port, txt, flags, userdata in
                guard let userdata = unsafe userdata else { return }
                let resolver = unsafe Unmanaged<ServiceResolver>.fromOpaque(userdata).takeUnretainedValue()
                guard event == AVAHI_RESOLVER_FOUND, let host = unsafe host else { return resolver.failed() }
                unsafe resolver.report(
                    .found(
                        host: String(cString: host), port: port, txt: AvahiStrings.bytes(of: txt),
                        isLocal: flags.rawValue & AVAHI_LOOKUP_RESULT_LOCAL.rawValue != 0))
            }, Unmanaged.passUnretained(self).toOpaque())
        object = try unsafe AvahiObject(on: connection, made, during: "cannot resolve \(instance.name)") {
            unsafe avahi_service_resolver_free($0)
        }
    }

    private func failed() { report(.failed(connection.lastError(during: "not resolved"))) }

    func free() { object?.free() }
}

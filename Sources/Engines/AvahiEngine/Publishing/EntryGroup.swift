import CAvahi
import DNSMessage
import DNSSD
import Discovery
import Records

/// One `AvahiEntryGroup` (avahi-client/publish.h): the records of one service, or of its host. Used only on the loop's thread.
///
/// Renames keep the group: Avahi counts collisions per group, and so keeps to the rate of RFC 6762 §8.1.
@safe final class EntryGroup {
    typealias State = Registration.Progress

    let connection: AvahiConnection
    private var pointer: OpaquePointer?
    private let stateChanged: (State) -> Void

    /// `stateChanged` is never called from here.
    init(on connection: AvahiConnection, stateChanged: @escaping (State) -> Void) throws(DiscoveryError) {
        self.connection = connection
        self.stateChanged = stateChanged
        guard let client = unsafe connection.pointer else { throw DiscoveryError(.backendUnavailable, "not connected") }
        let made = unsafe avahi_entry_group_new(
            client,
            { _, state, userdata in
                guard let userdata = unsafe userdata else { return }
                unsafe Unmanaged<EntryGroup>.fromOpaque(userdata).takeUnretainedValue().changed(to: state)
            }, Unmanaged.passUnretained(self).toOpaque())
        guard let made = unsafe made else {
            throw connection.lastError(during: "cannot publish").forbidden(by: "disable-user-service-publishing=yes")
        }
        unsafe pointer = made
        connection.objectCount += 1
    }

    private func changed(to state: AvahiEntryGroupState) {
        // Not while it is being made.
        guard unsafe pointer != nil else { return }
        switch state {
        case AVAHI_ENTRY_GROUP_REGISTERING: stateChanged(.registering)
        case AVAHI_ENTRY_GROUP_ESTABLISHED: stateChanged(.established)
        case AVAHI_ENTRY_GROUP_COLLISION: stateChanged(.collision)
        case AVAHI_ENTRY_GROUP_FAILURE: stateChanged(.failed(connection.lastError(during: "cannot publish")))
        default: stateChanged(.uncommitted)
        }
    }

    /// Adds the service on one interface (-1 for all) under `name`.
    /// - Throws: `.nameTaken` immediately if another client of the same avahi-daemon has the name.
    func add(_ service: OfferedService, as name: ServiceName, interface: Int32) throws(DiscoveryError) {
        guard let group = unsafe pointer else { return }
        let family = AvahiPath.avahiProtocol(service.family)
        let type = try service.type.checkedForAvahi().description
        let code = unsafe AvahiStrings.withList(of: service.txt.strings) { list in
            unsafe avahi_entry_group_add_service_strlst(
                group, interface, family, AvahiPublishFlags(rawValue: 0), name.text, type, service.domain.text,
                service.host?.name.text, service.port.rawValue, list)
        }
        guard code == 0 else {
            throw .avahi(code, during: "cannot publish").forbidden(by: "disable-publishing=yes")
        }
        for subtype in service.subtypes {
            let full = try service.type.withSubtype(subtype).checkedForAvahi().description
            let code = unsafe avahi_entry_group_add_service_subtype(
                group, interface, family, AvahiPublishFlags(rawValue: 0), name.text, type, service.domain.text, full)
            guard code == 0 else {
                throw .avahi(code, during: "cannot publish as \(full)").forbidden(by: "disable-publishing=yes")
            }
        }
    }

    /// Adds addresses of a host on one interface (-1 for all), without names for the addresses: those may well have others.
    /// - Throws: `.nameTaken` if avahi-daemon answers for the name itself, or another of its clients does.
    func add(
        _ addresses: [IPAddress], of host: HostName, over family: IPAddress.Family?, interface: Int32
    ) throws(DiscoveryError) {
        guard let group = unsafe pointer else { return }
        for address in addresses {
            let code = unsafe withUnsafePointer(to: AvahiAddress(address)) { address in
                unsafe avahi_entry_group_add_address(
                    group, interface, AvahiPath.avahiProtocol(family), AVAHI_PUBLISH_NO_REVERSE, host.text, address
                )
            }
            guard code == 0 else {
                throw .avahi(code, during: "cannot publish \(address) as \(host)").forbidden(
                    by: "publish-addresses=no")
            }
        }
    }

    /// Replaces the TXT record that `add` added. It is announced immediately, without probing (RFC 6762 §8.4).
    func update(_ service: OfferedService, as name: ServiceName, interface: Int32) throws(DiscoveryError) {
        guard let group = unsafe pointer else { return }
        let family = AvahiPath.avahiProtocol(service.family)
        let code = unsafe AvahiStrings.withList(of: service.txt.strings) { list in
            unsafe avahi_entry_group_update_service_txt_strlst(
                group, interface, family, AvahiPublishFlags(rawValue: 0), name.text, service.type.description,
                service.domain.text, list)
        }
        guard code == 0 else { throw .avahi(code, during: "cannot change the TXT record of \(name)") }
    }

    /// Replaces the SRV record that `add` added, as `update` does the TXT record: for a service avahi-daemon takes
    /// `AVAHI_PUBLISH_UPDATE`, and adds a second one (avahi-core/entry.c); for a record it means it.
    func updatePort(of service: OfferedService, as name: ServiceName, interface: Int32) throws(DiscoveryError) {
        guard let group = unsafe pointer else { return }
        let what = "cannot change the port of \(name)"
        guard let host = service.host?.name ?? connection.hostName,
            let target = try? DomainName(presentation: host.text)
        else { throw connection.lastError(during: what) }
        let port = service.port.rawValue
        // Priority and weight, which avahi-daemon sets to 0 as well (RFC 2782).
        let data = [0, 0, 0, 0, UInt8(port >> 8), UInt8(truncatingIfNeeded: port)] + target.wire
        let flags = AvahiPublishFlags(rawValue: AVAHI_PUBLISH_UNIQUE.rawValue | AVAHI_PUBLISH_UPDATE.rawValue)
        let instance = ServiceInstance(name: name, type: service.type, domain: service.domain)
        let code = unsafe data.withUnsafeBytes { data in
            unsafe avahi_entry_group_add_record(
                group, interface, AvahiPath.avahiProtocol(service.family), flags, instance.fullName,
                UInt16(AVAHI_DNS_CLASS_IN), UInt16(AVAHI_DNS_TYPE_SRV),
                UInt32(AVAHI_DEFAULT_TTL_HOST_NAME), data.baseAddress, data.count)
        }
        guard code == 0 else { throw .avahi(code, during: what) }
    }

    func commit() throws(DiscoveryError) {
        guard let group = unsafe pointer else { return }
        let code = unsafe avahi_entry_group_commit(group)
        guard code == 0 else { throw .avahi(code, during: "cannot publish") }
    }

    /// Empties the group, with goodbyes for everything announced.
    func reset() {
        guard let group = unsafe pointer, connection.isOpen else { return }
        unsafe _ = avahi_entry_group_reset(group)
    }

    func free() {
        guard let group = unsafe pointer else { return }
        unsafe pointer = nil
        guard connection.isOpen else { return }
        unsafe avahi_entry_group_free(group)
        connection.objectCount -= 1
    }

    deinit { free() }
}

extension AvahiAddress {
    /// An address as libavahi-common has it (avahi-common/address.h): the family's number, and the bytes in network order.
    fileprivate init(_ address: IPAddress) {
        self.init()
        let bytes: [UInt8]
        switch address {
        case .v4(let address): (proto, bytes) = (AvahiPath.avahiProtocol(.ipv4), address.bytes)
        case .v6(let address, _): (proto, bytes) = (AvahiPath.avahiProtocol(.ipv6), address.bytes)
        }
        unsafe withUnsafeMutableBytes(of: &data) { unsafe $0.copyBytes(from: bytes) }
    }
}

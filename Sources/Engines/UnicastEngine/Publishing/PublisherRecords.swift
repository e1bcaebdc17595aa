import DNSMessage
import DNSSD
import Discovery

/// One publisher's records in a domain: their names, and the updates that write them.
struct PublisherRecords: Sendable {
    let layout: ZoneLayout
    let id: PublisherID
    /// The TTL of every record, in seconds.
    let ttl: UInt32

    /// The name of the publisher's lease.
    var lease: DomainName { layout.lease(of: id) }
    /// The name at which the lease is listed for all publishers.
    var index: DomainName { layout.index(id.shard) }

    var serverFailure: String { "the server of \(layout.root) answers SERVFAIL" }

    var leftOut: DiscoveryError {
        DiscoveryError(
            .notPermitted,
            "the server of \(layout.root) confirms updates, and leaves records out. Its policy, as PowerDNS has them, does not let the key write all that a service needs (see discoverd setup zone powerdns)"
        )
    }

    func owner(of name: DomainName) -> RecordData { id.ownership(of: name) }

    func update(_ subject: DomainName?, _ write: (inout ZoneUpdate) -> Void) -> ZoneRequest {
        var update = ZoneUpdate()
        write(&update)
        return .update(update, subject: subject.map { "\($0)" } ?? "")
    }

    /// Returns the request that writes a lease; with another one, only if the server has that.
    func write(_ new: Lease, over current: Lease?) -> ZoneRequest {
        update(lease) { update in
            if let current { update.require(lease, .txt, .txt(current.data)) }
            update.replace(lease, .txt, with: .txt(new.data), ttl: ttl)
            update.add(index, .ptr, .ptr(lease), ttl: ttl)
        }
    }

    /// Returns the request that writes a host.
    /// - Parameter isOwn: whether the name is this publisher's; it must be free otherwise.
    func write(host name: DomainName, _ addresses: Set<IPAddress>, isOwn: Bool) -> ZoneRequest {
        update(name) { update in
            update.requireExists(lease, .txt)
            claim(name, isOwn: isOwn, in: &update)
            for type in [RecordType.a, .aaaa] { update.deleteAll(name, type) }
            for address in addresses.sorted(by: { $0.description < $1.description }) {
                let (type, data) = address.record
                update.add(name, type, data, ttl: ttl)
            }
            update.replace(name, .dhcid, with: owner(of: name), ttl: ttl)
            update.add(layout.manifest(ZoneLayout.shard(of: name), of: id), .ptr, .ptr(name), ttl: ttl)
        }
    }

    /// Returns the request that removes a host, and its entry in the manifest.
    func remove(host name: DomainName) -> ZoneRequest {
        update(name) { update in
            update.remove(host: name, of: id)
            update.forget([name], in: ZoneLayout.shard(of: name), of: id, layout)
        }
    }

    /// Returns the request that removes a host's entry in the manifest.
    /// - Parameter ownerless: addresses to remove besides, unless the name has an owner.
    func forget(host name: DomainName, ownerless: Set<IPAddress>) -> ZoneRequest {
        update(name) { update in
            if !ownerless.isEmpty { update.requireAbsent(name, .dhcid) }
            for address in ownerless.sorted(by: { $0.description < $1.description }) {
                let (type, data) = address.record
                update.delete(name, type, data)
            }
            update.forget([name], in: ZoneLayout.shard(of: name), of: id, layout)
        }
    }

    /// Writes a service on a host into an update that requires the lease.
    func write(_ item: ItemClaim, on target: DomainName, to update: inout ZoneUpdate) {
        guard let service = item.service else { return }
        let names = item.names
        claim(names.instance, isOwn: item.isOwn, in: &update)
        for list in [names.list] + names.subtypes.sorted(by: { $0.description < $1.description }) {
            update.add(list, .ptr, .ptr(names.instance), ttl: ttl)
        }
        update.add(layout.types, .ptr, .ptr(names.list), ttl: ttl)
        let location = RecordData.srv(priority: 0, weight: 0, port: service.port.rawValue, target: target)
        update.replace(names.instance, .srv, with: location, ttl: ttl)
        // The strings have been checked to be short enough.
        let text = (try? TextStrings.data(of: service.txt.strings)) ?? [0]
        update.replace(names.instance, .txt, with: .txt(text), ttl: ttl)
        update.replace(names.instance, .dhcid, with: owner(of: names.instance), ttl: ttl)
        let manifest = layout.manifest(names.shard, of: id)
        for entry in names.entries { update.add(manifest, .ptr, .ptr(entry), ttl: ttl) }
        if !item.staleSubtypes.isEmpty {
            for list in item.staleSubtypes { update.delete(list, .ptr, .ptr(names.instance)) }
            var stale = names
            stale.subtypes = item.staleSubtypes
            update.forget(Array(stale.entries.dropFirst()), in: names.shard, of: id, layout)
        }
    }

    /// Returns conditions alone: everything that a service needs is there.
    /// - Parameter families: the families of the host's addresses, if the host's name is this publisher's.
    func require(_ names: InstanceNames, on target: DomainName, _ families: Set<IPAddress.Family>) -> ZoneRequest {
        update(names.instance) { update in
            update.require(names.instance, .dhcid, owner(of: names.instance))
            for type in [RecordType.srv, .txt] { update.requireExists(names.instance, type) }
            update.requireExists(lease, .txt)
            for list in [names.list, layout.types, index, layout.manifest(names.shard, of: id)] {
                update.requireExists(list, .ptr)
            }
            for family in families { update.requireExists(target, family == .ipv4 ? .a : .aaaa) }
        }
    }

    /// Returns conditions alone: everything that a host needs is there.
    func require(host name: DomainName, _ families: Set<IPAddress.Family>) -> ZoneRequest {
        update(name) { update in
            update.require(name, .dhcid, owner(of: name))
            update.requireExists(lease, .txt)
            update.requireExists(layout.manifest(ZoneLayout.shard(of: name), of: id), .ptr)
            for family in families { update.requireExists(name, family == .ipv4 ? .a : .aaaa) }
        }
    }

    private func claim(_ name: DomainName, isOwn: Bool, in update: inout ZoneUpdate) {
        if isOwn {
            update.require(name, .dhcid, owner(of: name))
        } else {
            update.requireUnused(name)
        }
    }
}

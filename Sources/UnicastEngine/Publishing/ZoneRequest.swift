package import DNSMessage
import WireNames

/// What a zone's server is asked.
package enum ZoneRequest: Hashable, Sendable {
    /// The records of a name and type.
    case ask(DomainName, RecordType)
    /// To change the zone; the subject, what it is about, is for people.
    case update(ZoneUpdate, subject: String)
}

/// What came of it.
package enum ZoneReply: Hashable, Sendable {
    /// The records that there are; none is an answer, too.
    case records([RecordData])
    /// What an update has led to, or why a question has no answer.
    case outcome(UpdateOutcome)
}

extension ZoneUpdate {
    /// Deletes the records of a service that a publisher has; nothing happens if they are another's.
    mutating func remove(_ names: InstanceNames, of id: PublisherID) {
        require(names.instance, .dhcid, id.ownership(of: names.instance))
        for list in [names.list] + names.subtypes.sorted(by: { $0.description < $1.description }) {
            delete(list, .ptr, .ptr(names.instance))
        }
        // Each type by its name: servers may allow these and not all (Knot's `update-type`).
        for type in [RecordType.srv, .txt, .dhcid] { deleteAll(names.instance, type) }
    }

    /// Deletes the records of a host that a publisher has; nothing happens if they are another's.
    mutating func remove(host: DomainName, of id: PublisherID) {
        require(host, .dhcid, id.ownership(of: host))
        for type in [RecordType.a, .aaaa, .dhcid] { deleteAll(host, type) }
    }

    /// Deletes entries of a manifest.
    mutating func forget(_ entries: [DomainName], in shard: Int, of id: PublisherID, _ layout: ZoneLayout) {
        for entry in entries { delete(layout.manifest(shard, of: id), .ptr, .ptr(entry)) }
    }

    /// Deletes a service's entries of a manifest.
    mutating func forget(_ names: InstanceNames, of id: PublisherID, _ layout: ZoneLayout) {
        forget(names.entries, in: names.shard, of: id, layout)
    }

    /// Deletes a type from the list of types; holds only while no service of it is listed.
    mutating func removeType(_ list: DomainName, _ layout: ZoneLayout) {
        requireAbsent(list, .ptr)
        delete(layout.types, .ptr, .ptr(list))
    }

    /// Deletes a publisher's lease; holds only while its manifest is empty, so that nothing is left that no one would take back.
    mutating func removeLease(of id: PublisherID, _ layout: ZoneLayout) {
        for shard in 0..<ZoneLayout.shards { requireAbsent(layout.manifest(shard, of: id), .ptr) }
        deleteAll(layout.lease(of: id), .txt)
        delete(layout.index(id.shard), .ptr, .ptr(layout.lease(of: id)))
    }
}

extension [RecordData] {
    /// The names that PTR records point to.
    var targets: [DomainName] {
        compactMap { data in
            if case .ptr(let name) = data { name } else { nil }
        }
    }

    /// The only TXT record; nil without one.
    var text: [UInt8]? {
        compactMap { data in
            if case .txt(let bytes) = data { bytes } else { nil }
        }.first
    }
}

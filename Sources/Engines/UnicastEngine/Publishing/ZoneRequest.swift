package import DNSMessage

/// A request to a zone's server.
package enum ZoneRequest: Hashable, Sendable {
    /// Asks for the records of a name and type.
    case ask(DomainName, RecordType)
    /// Changes the zone; the subject names what is written, for people.
    case update(ZoneUpdate, subject: String)
}

/// The reply to a request.
package enum ZoneReply: Hashable, Sendable {
    /// The records; empty if there are none.
    case records([RecordData])
    /// The outcome of an update, or the reason why a question has no answer.
    case outcome(UpdateOutcome)
}

extension ZoneUpdate {
    /// Deletes a publisher's records of a service; the update fails if they are another's.
    mutating func remove(_ names: InstanceNames, of id: PublisherID) {
        require(names.instance, .dhcid, id.ownership(of: names.instance))
        for list in [names.list] + names.subtypes.sorted(by: { $0.description < $1.description }) {
            delete(list, .ptr, .ptr(names.instance))
        }
        // Each type is named, because a server may allow these types but not all (Knot's `update-type`).
        for type in [RecordType.srv, .txt, .dhcid] { deleteAll(names.instance, type) }
    }

    /// Deletes a publisher's records of a host; the update fails if they are another's.
    mutating func remove(host: DomainName, of id: PublisherID) {
        require(host, .dhcid, id.ownership(of: host))
        for type in [RecordType.a, .aaaa, .dhcid] { deleteAll(host, type) }
    }

    /// Deletes entries from a manifest.
    mutating func forget(_ entries: [DomainName], in shard: Int, of id: PublisherID, _ layout: ZoneLayout) {
        for entry in entries { delete(layout.manifest(shard, of: id), .ptr, .ptr(entry)) }
    }

    /// Deletes a service's entries from a manifest.
    mutating func forget(_ names: InstanceNames, of id: PublisherID, _ layout: ZoneLayout) {
        forget(names.entries, in: names.shard, of: id, layout)
    }

    /// Deletes a type from the list of types; the update fails if a service of the type is listed.
    mutating func removeType(_ list: DomainName, _ layout: ZoneLayout) {
        requireAbsent(list, .ptr)
        delete(layout.types, .ptr, .ptr(list))
    }

    /// Deletes a publisher's lease; the update fails unless its manifest is empty, because no one would take back the
    /// rest.
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

    /// The data of the first TXT record; nil without one.
    var text: [UInt8]? {
        compactMap { data in
            if case .txt(let bytes) = data { bytes } else { nil }
        }.first
    }
}

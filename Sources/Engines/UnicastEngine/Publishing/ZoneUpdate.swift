package import DNSMessage
import DNSSD

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

    /// Whether the server has said or done what was asked.
    var isAsAsked: Bool {
        switch self {
        case .records, .outcome(.done): true
        case .outcome: false
        }
    }
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

/// One update of a zone: prerequisites, and changes that are made together if every prerequisite holds (RFC 2136 §2.4
/// and §2.5).
package struct ZoneUpdate: Hashable, Sendable {
    /// The prerequisites.
    package private(set) var prerequisites: [ResourceRecord] = []
    /// The changes, in order.
    package private(set) var changes: [ResourceRecord] = []

    package init() {}

    // MARK: Prerequisites

    /// Requires that the name has no records (§2.4.5).
    package mutating func requireUnused(_ name: DomainName) {
        prerequisites.append(.isNotInUse(name))
    }

    /// Requires that the name has a record of the type, whatever its data (§2.4.1).
    package mutating func requireExists(_ name: DomainName, _ type: RecordType) {
        prerequisites.append(.exists(name, type))
    }

    /// Requires that the name has no record of the type (§2.4.3).
    package mutating func requireAbsent(_ name: DomainName, _ type: RecordType) {
        prerequisites.append(.isAbsent(name, type))
    }

    /// Requires that the name's only record of the type has this data (§2.4.2).
    package mutating func require(_ name: DomainName, _ type: RecordType, _ data: RecordData) {
        prerequisites.append(ResourceRecord(name, type, data, ttl: 0))
    }

    // MARK: Changes

    /// Adds a record; others of its type stay (§2.5.1). Nothing is added to a wildcard, whoever asks for it: what must not
    /// be one is refused where its name is read. What an earlier version wrote is deleted as any other name.
    package mutating func add(_ name: DomainName, _ type: RecordType, _ data: RecordData, ttl: UInt32) {
        guard !name.isWildcard else { return }
        changes.append(ResourceRecord(name, type, data, ttl: ttl))
    }

    /// Deletes all records of a type (§2.5.2).
    package mutating func deleteAll(_ name: DomainName, _ type: RecordType) {
        changes.append(.deleting(name, type))
    }

    /// Deletes one record if it exists (§2.5.4).
    package mutating func delete(_ name: DomainName, _ type: RecordType, _ data: RecordData) {
        changes.append(ResourceRecord(name, type, data, ttl: 0).asDeletion)
    }

    /// Makes this the name's only record of the type, with no moment in which there is none.
    package mutating func replace(_ name: DomainName, _ type: RecordType, with data: RecordData, ttl: UInt32) {
        deleteAll(name, type)
        add(name, type, data, ttl: ttl)
    }

    /// Returns the message to a zone's server; the transport sets its id.
    package func message(to zone: DomainName) -> Message {
        .update(zone: zone, prerequisites: prerequisites, changes: changes)
    }
}

extension ZoneReply {
    /// What a server's answer to a question means; only the zone's own server is believed.
    init(_ answer: Message, to question: Question, from place: ZoneLocation) {
        let server = place.server.address
        switch answer.responseCode {
        case ResponseCode.noError, ResponseCode.noSuchName:
            guard answer.flags.contains(.authoritative) else {
                self = .outcome(
                    .refused(.init(.misconfigured, "\(server) is a resolver rather than the server of \(place.zone)")))
                return
            }
            let matching = answer.answers.filter { $0.name == question.name && $0.type == question.type }
            self = .records(matching.map(\.data))
        case ResponseCode.serverFailure: self = .outcome(.serverFailed)
        case let code:
            self = .outcome(
                .refused(.init(.misconfigured, "the server \(server) does not serve \(place.zone) (error \(code))")))
        }
    }
}

import DNSMessage
import DNSSD
import Discovery

@testable import UnicastEngine

/// A zone's server as a value: it carries out updates as RFC 2136 §3 says.
struct ScriptedZone: Equatable {
    struct Place: Hashable {
        var name: DomainName
        var type: RecordType
    }

    var records: [Place: Set<RecordData>] = [:]
    /// The most records of a type at a name; more are refused with SERVFAIL, as BIND does.
    var mostRecords = Int.max
    /// Names that may not be written.
    var forbidden: Set<DomainName> = []
    /// Types that are left out of an update without a word, as a policy of PowerDNS does.
    var omitted: Set<RecordType> = []
    /// No question is answered for names of other characters, as by PowerDNS.
    var knowsCommonNamesOnly = false
    /// Questions for names of other characters are refused.
    var refusesUncommonNames = false
    /// Everything is refused.
    var refusal: DiscoveryError?
    /// Conditions without changes are answered with SERVFAIL.
    var failsConditionsAlone = false

    func answer(_ request: ZoneRequest) -> ZoneReply {
        guard case .ask(let name, let type) = request else { return .outcome(.serverFailed) }
        if let refusal { return .outcome(.refused(refusal)) }
        if knowsCommonNamesOnly, !name.isCommon { return .outcome(.serverFailed) }
        if refusesUncommonNames, !name.isCommon { return .outcome(.refused(.init(.notPermitted, "\(name)"))) }
        return .records(Array(records[Place(name: source(of: name), type: type)] ?? []))
    }

    /// The name whose records are the answer: for one that is absent perhaps a wildcard (RFC 4592 §3.3.1).
    private func source(of name: DomainName) -> DomainName {
        var name = name
        let asked = name
        while !records.keys.contains(where: { $0.name.isWithin(name) }) {
            guard let parent = name.parent, let star = parent.prefixed([Array("*".utf8)]) else { return asked }
            if isInUse(star) { return star }
            name = parent
        }
        return asked
    }

    mutating func carryOut(_ request: ZoneRequest) -> ZoneReply {
        guard case .update(let update, _) = request else { return answer(request) }
        if let refusal { return .outcome(.refused(refusal)) }
        if failsConditionsAlone, update.changes.isEmpty { return .outcome(.serverFailed) }
        return .outcome(carryOut(update.prerequisites, update.changes))
    }

    /// All of it, or nothing.
    mutating func carryOut(_ prerequisites: [ResourceRecord], _ changes: [ResourceRecord]) -> UpdateOutcome {
        var exact: [Place: Set<RecordData>] = [:]
        for condition in prerequisites {
            let place = Place(name: condition.name, type: condition.type)
            switch (condition.recordClass, condition.type) {
            case (.none, .any): if isInUse(condition.name) { return .nameInUse }
            case (.any, .any): if !isInUse(condition.name) { return .notAsRequired }
            case (.none, _): if records[place] != nil { return .recordsExist }
            case (.any, _): if records[place] == nil { return .notAsRequired }
            default: exact[place, default: []].insert(condition.data)
            }
        }
        for (place, wanted) in exact where records[place] != wanted { return .notAsRequired }
        if let name = changes.map(\.name).first(where: forbidden.contains) {
            return .refused(.init(.notPermitted, "\(name)"))
        }
        var changed = records
        for change in changes where !omitted.contains(change.type) {
            let place = Place(name: change.name, type: change.type)
            switch change.recordClass {
            case .any: changed[place] = nil
            case .none:
                changed[place]?.remove(change.data)
                if changed[place]?.isEmpty == true { changed[place] = nil }
            default: changed[place, default: []].insert(change.data)
            }
            if changed[place]?.count ?? 0 > mostRecords { return .serverFailed }
        }
        records = changed
        return .done
    }

    private func isInUse(_ name: DomainName) -> Bool { records.keys.contains { $0.name == name } }
}

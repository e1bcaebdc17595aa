import DNSMessage
import DNSSD
import Discovery
import WireNames

/// A query for services: asks for the list of a type or for one instance, and for the records of each service.
struct ServiceBrowse: FinderRules {
    typealias Fact = BrowseFact

    /// The most services of one query that are kept; a list in DNS cannot have as many.
    static let mostServices = 4096

    /// One service, and what was reported of it.
    struct Service: Sendable {
        let instance: ServiceInstance
        var isTold = false
        var resolution: Resolution?
        var isFailing = false
        /// This machine has published it.
        var isOwn = false
        /// Hosts whose addresses are asked for.
        var hosts: [DomainName] = []
        /// Whether it was resolved once and is not asked for again.
        var isDone = false
    }

    let query: ServiceQuery
    /// Tells the services of this machine; nil: there are none.
    let own: OwnServices?
    /// The question that shows whether servers answer: the list, or the one service's SRV record.
    let primary: Question?
    /// The end of the services' names.
    private let base: DomainName?
    var table: QuestionTable
    var services: [DomainName: Service] = [:]
    /// The services that have a host as a target.
    var users: [DomainName: Set<DomainName>] = [:]
    var watch = ServerWatch<Fact>()
    private var isListed = false
    var facts: [Fact] = []
    /// The services whose addresses have been reported as withheld.
    var withholding: Set<DomainName> = []
    private var leftOut = 0
    /// Why a question other than the primary one failed.
    private var trouble: String?

    init(_ query: ServiceQuery, own: OwnServices? = nil) {
        (self.query, self.own) = (query, own)
        switch query.target {
        case .type(let type, let domain):
            let list = DomainName(listing: type, in: domain)
            primary = list.map { Question($0, .ptr) }
            base = DomainName(listing: type.base, in: domain)
            table = QuestionTable(followingSerialAt: list)
        case .instance(let instance):
            let name = DomainName(instance)
            primary = name.map { Question($0, .srv) }
            base = nil
            table = QuestionTable()
            if let name { services[name] = Service(instance: instance) }
        }
    }

    mutating func begin(at now: Duration) {
        guard let primary else {
            facts.append(.backend(.down("the name is longer than a domain name can be (RFC 1035 §2.3.4)")))
            return
        }
        table.want(primary, at: now, jitter: 0)
        if primary.type == .srv { table.want(Question(primary.name, .txt), at: now, jitter: 0) }
    }

    mutating func answered(_ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double) {
        table.answered(question, reading, at: now, jitter: jitter)
        defer { table.forgetAdditionals() }
        guard let polled = table[question] else { return }
        if question == primary { answeredPrimary(at: now, jitter: jitter) } else { noteTrouble(of: polled) }
        switch question.type {
        case .srv, .txt, .dhcid: evaluate(question.name, at: now, jitter: jitter)
        case .a, .aaaa:
            for name in users[question.name, default: []].sorted(by: \.description) {
                evaluate(name, at: now, jitter: jitter)
            }
        default: break
        }
        list()
    }

    mutating func due(at now: Duration, jitter: () -> Double) -> [Question] { table.due(at: now, jitter: jitter) }

    var deadline: Duration? { table.deadline }

    mutating func takeFacts() -> [Fact] {
        defer { facts = [] }
        return facts
    }

    var troubles: [String] {
        [watch.trouble, trouble].compactMap(\.self) + (leftOut > 0 ? [leftOutText] : [])
    }

    mutating func verify(_ instance: ServiceInstance, at now: Duration) {
        guard let name = DomainName(instance), let service = services[name] else { return }
        table.hasten(Question(name, .srv))
        for host in service.hosts {
            for type in addressTypes { table.hasten(Question(host, type)) }
        }
    }
}

// MARK: The list
extension ServiceBrowse {
    private mutating func answeredPrimary(at now: Duration, jitter: Double) {
        guard let primary, let polled = table[primary] else { return }
        if let reason = polled.trouble, polled.failures > 0 {
            facts += watch.failed(reason, times: polled.failures)
            return
        }
        let (isBack, news) = watch.answered()
        facts += news
        if isBack { tellAgain() }
        if primary.type == .ptr { update(polled.records, at: now, jitter: jitter) }
    }

    /// Reports again everything that is known, after the servers were silent.
    private mutating func tellAgain() {
        isListed = false
        for service in services.values where service.isTold {
            facts.append(.appeared(service.sighting))
            if let resolution = service.resolution { facts.append(.resolved(resolution)) }
            if service.isFailing { facts.append(.resolutionFailed(service.instance, .unicast)) }
        }
    }

    /// Takes in the list: adds services that are new, and forgets those that are not in it.
    private mutating func update(_ records: [RecordData], at now: Duration, jitter: Double) {
        var there: Set<DomainName> = []
        var left = 0
        for case .ptr(let name) in records {
            guard let base, let label = name.label(below: base), let text = ServiceName(label: label),
                there.count < Self.mostServices
            else {
                left += 1
                continue
            }
            guard there.insert(name).inserted, services[name] == nil else { continue }
            var service = Service(
                instance: ServiceInstance(name: text, type: query.target.type, domain: query.domain))
            service.isTold = true
            services[name] = service
            facts.append(.appeared(Sighting(instance: service.instance, origin: .unicast, family: nil)))
            guard query.resolution != .none else { continue }
            table.want(Question(name, .srv), at: now, jitter: jitter)
            table.want(Question(name, .txt), at: now, jitter: jitter)
            // Both may have come with the list.
            evaluate(name, at: now, jitter: jitter)
        }
        for name in services.keys where !there.contains(name) { forget(name) }
        if left > leftOut {
            leftOut = left
            facts.append(.degraded(leftOutText))
        }
        leftOut = left
    }

    /// Reports a failure once, until a question is answered again.
    private mutating func noteTrouble(of polled: PolledQuestion) {
        if polled.trouble == nil {
            trouble = nil
        } else if trouble == nil, let reason = polled.trouble {
            trouble = reason
            if watch.state == .up { facts.append(.degraded("\(reason): what was known is kept")) }
        }
    }

    private var leftOutText: String {
        "\(leftOut) names in the list of \(primary?.name.shown ?? "") were left out: they are none of services there"
    }

    private mutating func forget(_ name: DomainName) {
        guard let service = services.removeValue(forKey: name) else { return }
        facts.append(.withdrawn(Sighting(instance: service.instance, origin: .unicast, family: nil)))
        stopAsking(name, service)
        withholding.remove(name)
    }

    mutating func stopAsking(_ name: DomainName, _ service: Service) {
        table.drop(Question(name, .srv))
        table.drop(Question(name, .txt))
        table.drop(Question(name, .dhcid))
        for host in service.hosts { release(host, by: name) }
    }

    /// Reports `listed` once: after the list's sightings, or when the one service is resolved or cannot be.
    private mutating func list() {
        guard !isListed, watch.state == .up else { return }
        if primary?.type == .srv {
            guard let service = services.values.first,
                service.resolution != nil || service.isFailing || isMissing(service)
            else { return }
        }
        isListed = true
        facts.append(.listed)
    }

    private func isMissing(_ service: Service) -> Bool {
        guard let primary, case .nothing = table[primary]?.known else { return false }
        return true
    }
}

extension ServiceBrowse.Service {
    var sighting: Sighting { Sighting(instance: instance, origin: .unicast, family: nil, isOwn: isOwn) }
}

extension ServiceQuery.Target {
    /// The type without its subtype.
    fileprivate var type: ServiceType {
        switch self {
        case .type(let type, _): type.base
        case .instance(let instance): instance.type
        }
    }
}

extension Set {
    fileprivate func sorted(by key: (Element) -> String) -> [Element] { sorted { key($0) < key($1) } }
}

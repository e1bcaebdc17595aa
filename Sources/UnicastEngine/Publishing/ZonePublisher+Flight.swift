import DNSMessage

extension ZonePublisher {
    /// The subject of a request under way.
    enum Flight: Sendable {
        case index
        case lease(Lease, sentAt: Duration)
        case leaseCheck
        case leaseRemoval
        case manifest(Int)
        case host(version: Int)
        case hostOwner
        case hostAddresses(RecordType)
        case hostRemoval(DomainName)
        case hostClearing(DomainName)
        case listing(DomainName)
        case publication([Int: Int])
        case proof([Int: Int])
        case owner(Int)
        case name(Int)
        case limit(Int)
        case removal([Int])
        case clearing([Int])
        case janitor(Janitor.Job)

        /// Whether it is a question of the publisher itself, rather than an update or the janitor's.
        var isQuestion: Bool {
            switch self {
            case .index, .leaseCheck, .manifest, .hostOwner, .hostAddresses, .listing, .owner, .limit: true
            default: false
            }
        }
    }
}

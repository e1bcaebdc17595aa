package import DNSMessage
package import DNSSD

/// What is explained: a name of the link.
package enum InquirySubject: Hashable, Sendable {
    case service(ServiceInstance)
    /// All services of a type.
    case type(ServiceType)
    case host(DomainName)

    /// Whose records say that it is there.
    package var name: DomainName? {
        switch self {
        case .service(let instance): DomainName(instance)
        case .type(let type): DomainName(listing: type, in: .local)
        case .host(let name): name
        }
    }

    /// The types of those records.
    var types: [RecordType] {
        switch self {
        case .service: [.srv]
        case .type: [.ptr]
        case .host: [.a, .aaaa]
        }
    }

    /// Where a service is listed; nil of others.
    package var listing: DomainName? {
        guard case .service(let instance) = self else { return nil }
        return DomainName(listing: instance.type, in: instance.domain)
    }

    /// What is asked first.
    var questions: [Question] {
        guard let name else { return [] }
        let more = listing.map { [Question(name, .txt), Question($0, .ptr)] } ?? []
        return types.map { Question(name, $0) } + more
    }
}

import DNSMessage
import DNSSD
import Discovery

/// One service that a publisher has in a zone, is to have, or had.
struct PublishedItem: Sendable {
    /// The goal for its records.
    enum Stage: Sendable {
        /// The records must exist.
        case wanted
        /// The records must be deleted.
        case removing
        /// The records are deleted. The manifest's entries follow, and the type in the list of types unless another
        /// service has it.
        case clearing
    }

    /// What is known of the name's owner.
    enum Claim: Sendable {
        /// The name should be free.
        case free
        /// The name belongs to this publisher.
        case mine
        /// The server must be asked.
        case unclear
    }

    /// The service to publish; nil for one that an earlier process with this publisher's id left behind.
    var service: OfferedService?
    var policy = ConflictPolicy.rename
    var isPersistent = false
    /// The name that is being tried or is established.
    var name: ServiceName
    var names: InstanceNames
    var stage: Stage
    var claim = Claim.free
    /// How often the name was in use although it had no owner.
    var ownerless = 0
    /// Whether the name is this item's among the items of this publisher.
    var holdsName = false
    /// The version of the service that is wanted.
    var version = 1
    /// The version that the server has.
    var acknowledged = 0
    var isInFlight = false
    /// Whether it goes in a message of its own, because a message with others was refused.
    var isAlone = false
    /// Whether it was sent, so that the server may have it.
    var mayExist = false
    /// Whether the answer to a message with it was lost.
    var wasUnheard = false
    var wasEstablished = false
    /// Whether something of it was not there after the server had said that all is.
    var isUnproven = false
    /// Whether the server failed once to answer the question for its name.
    var wasUnanswered = false
    /// Whether it was sent again after a renewal of the lease: until then, an older zone may lack it.
    var isConfirmed = false
    /// Whether other services of its type exist, so that the type stays in the list of types.
    var keepsType = false
    /// The subtypes of an earlier process that the service no longer has.
    var staleSubtypes: Set<DomainName> = []
    var retryAt: Duration?
    var delay = RetryDelay()
    var renames = 0
    var told: PublicationFact?

    /// Whether the service is wanted and the server does not have its current version.
    var isOutdated: Bool { stage == .wanted && acknowledged < version }

    /// Returns whether no request for it is under way and it need not wait.
    func isReady(_ now: Duration) -> Bool { !isInFlight && (retryAt ?? now) <= now }

    /// The approximate bytes of its records in a message.
    var size: Int { 500 + (service?.txt.wireSize ?? 0) + names.subtypes.count * 300 }
}

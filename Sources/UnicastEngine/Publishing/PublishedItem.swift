import DNSMessage
import DNSSD
import Discovery

/// One service that a publisher has, or is to have, or had, in a zone.
struct PublishedItem: Sendable {
    /// What is to become of it.
    enum Stage: Sendable {
        /// It is to be there.
        case wanted
        /// Its records are to go.
        case removing
        /// Its records are gone; the type's place in the list of types, if no other service has it, and the manifest's entry follow.
        case clearing
    }

    /// What is known of the name's owner.
    enum Claim: Sendable {
        /// The name should be free.
        case free
        /// It is this publisher's.
        case mine
        /// The server is to be asked.
        case unclear
    }

    /// What was asked for; nil for what an earlier process with this publisher's id has left.
    var service: OfferedService?
    var policy = ConflictPolicy.rename
    var isPersistent = false
    /// The name that is tried, or is there.
    var name: ServiceName
    var names: InstanceNames
    var stage: Stage
    var claim = Claim.free
    /// How often the name was in use, though nobody owned it.
    var ownerless = 0
    /// The name is this item's among the items of this publisher.
    var holdsName = false
    /// Which state of the service is wanted, and which one the server has.
    var version = 1
    var acknowledged = 0
    var isInFlight = false
    /// It goes in a message of its own, because a message with others was refused.
    var isAlone = false
    /// It was sent, and the server may have it.
    var mayExist = false
    /// An answer was lost while it was sent.
    var wasUnheard = false
    var wasEstablished = false
    /// The server had it still after a renewal that came later: a zone that is older would have been noticed.
    var isConfirmed = false
    /// Other services of its type are there: the type stays in the list of types.
    var keepsType = false
    /// Subtypes of an earlier process that it has no more.
    var staleSubtypes: Set<DomainName> = []
    var retryAt: Duration?
    var delay = RetryDelay()
    var renames = 0
    var told: PublicationFact?

    /// It is wanted, and the server does not have it as it is wanted.
    var isOutdated: Bool { stage == .wanted && acknowledged < version }

    /// Nothing of it is under way, and it need not wait.
    func isReady(_ now: Duration) -> Bool { !isInFlight && (retryAt ?? now) <= now }

    /// About how many bytes its records have in a message.
    var size: Int { 500 + (service?.txt.wireSize ?? 0) + names.subtypes.count * 300 }
}

import Discovery
import DiscoverySystem

/// Why answers may be incomplete now. Operations write it on the loop's thread; any thread may read it.
final class Troubles: Sendable {
    /// An operation and the kind of its trouble.
    struct Key: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case browsing, sightings
            case cache(AvahiPath)
        }

        let owner: ObjectIdentifier
        let kind: Kind
    }

    private let noted = Locked<[Key: String]>([:])

    /// Each text once.
    var texts: [String] { Set(noted.withLock { $0 }.values).sorted() }

    /// Records an operation's trouble; nil clears it.
    func note(_ kind: Key.Kind, of owner: AnyObject, _ text: String?) {
        let key = Key(owner: ObjectIdentifier(owner), kind: kind)
        noted.withLock { $0[key] = text }
    }

    /// Clears the troubles of an operation that has ended or restarts.
    func forget(_ owner: AnyObject) {
        let owner = ObjectIdentifier(owner)
        noted.withLock { noted in noted = noted.filter { $0.key.owner != owner } }
    }
}

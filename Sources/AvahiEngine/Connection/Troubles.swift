import Discovery
import System

/// What keeps answers incomplete now: noted by operations on the loop's thread, read from any.
final class Troubles: Sendable {
    /// Which operation noted what.
    struct Key: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case browsing, sightings
            case cache(CacheGauge.Place)
        }

        let owner: ObjectIdentifier
        let kind: Kind
    }

    private let noted = Locked<[Key: String]>([:])

    /// Each sentence once.
    var texts: [String] { Set(noted.withLock { $0 }.values).sorted() }

    /// Notes an operation's trouble, or its end with nil.
    func note(_ kind: Key.Kind, of owner: AnyObject, _ text: String?) {
        let key = Key(owner: ObjectIdentifier(owner), kind: kind)
        noted.withLock { $0[key] = text }
    }

    /// An operation has ended, or begins again.
    func forget(_ owner: AnyObject) {
        let owner = ObjectIdentifier(owner)
        noted.withLock { noted in noted = noted.filter { $0.key.owner != owner } }
    }
}

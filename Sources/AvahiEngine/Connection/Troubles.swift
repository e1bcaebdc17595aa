import Discovery

/// What keeps answers from being complete now: noted by operations on the loop's thread, read from any.
final class Troubles: Sendable {
    /// What is noted by whom.
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

    /// Notes a trouble of an operation, or with nil that it is over.
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

import DNSSD

/// Why links are not used, or only in part. Each cause has its own reason, so that the end of one does not hide another.
struct LinkTroubles {
    enum Cause: Hashable {
        /// A socket cannot be had.
        case opening
        /// The system refuses packets.
        case sending
    }

    private var reasons: [LinkKey: [Cause: String]] = [:]

    enum News: Hashable {
        case none
        /// There is another reason; the text is for people.
        case trouble(String)
        /// The cause is over.
        case over
    }

    /// Records why a link is not used; nil when the cause is over.
    mutating func note(_ reason: String?, _ cause: Cause, of link: LinkKey) -> News {
        let text = reason.map { "\(link.interface.name) cannot be asked: \($0)" }
        guard reasons[link]?[cause] != text else { return .none }
        reasons[link, default: [:]][cause] = text
        if reasons[link]?.isEmpty == true { reasons[link] = nil }
        return text.map { .trouble($0) } ?? .over
    }

    /// Forgets the links that are not among these.
    mutating func keep(_ links: some Sequence<NetworkInterface>) {
        let kept = Set(links)
        reasons = reasons.filter { kept.contains($0.key.interface) }
    }

    /// The reasons that matter to an operation, each once.
    func texts(for wish: LinkWish) -> [String] {
        Set(reasons.filter { wish.wants($0.key) }.flatMap(\.value.values)).sorted()
    }

    /// All reasons, each once.
    var texts: Set<String> { Set(reasons.values.flatMap(\.values)) }
}

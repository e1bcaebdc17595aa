import CAvahi

/// What a browser tells.
enum BrowserEvent<Seen> {
    case appeared(Seen, AvahiPath)
    case disappeared(Seen, AvahiPath)
    /// Avahi's cache has been reported.
    case cacheExhausted
    /// Avahi waited a second for answers: a timer, not a guarantee.
    case allForNow
    /// It is dead; `lastError` of the connection says why.
    case failed

    init(_ event: AvahiBrowserEvent, _ seen: Seen, _ path: AvahiPath) {
        self =
            switch event {
            case AVAHI_BROWSER_NEW: .appeared(seen, path)
            case AVAHI_BROWSER_REMOVE: .disappeared(seen, path)
            case AVAHI_BROWSER_CACHE_EXHAUSTED: .cacheExhausted
            case AVAHI_BROWSER_ALL_FOR_NOW: .allForNow
            default: .failed
            }
    }

    /// The same of what `meaning` makes of it; nil where that is nothing.
    func of<Meaning>(_ meaning: (Seen, AvahiPath) -> Meaning?) -> BrowserEvent<Meaning>? {
        switch self {
        case .appeared(let seen, let path): meaning(seen, path).map { .appeared($0, path) }
        case .disappeared(let seen, let path): meaning(seen, path).map { .disappeared($0, path) }
        case .cacheExhausted: .cacheExhausted
        case .allForNow: .allForNow
        case .failed: .failed
        }
    }
}

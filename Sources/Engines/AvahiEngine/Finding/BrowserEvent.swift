import CAvahi

/// A browser's report.
enum BrowserEvent<Seen> {
    case appeared(Seen, AvahiPath)
    case disappeared(Seen, AvahiPath)
    /// Avahi has reported its cache.
    case cacheExhausted
    /// Avahi has waited a second for answers; more may follow.
    case allForNow
    /// The browser has failed and reports nothing more; the connection's `lastError` has the reason.
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

    /// Returns the event with `meaning` of its value; nil if `meaning` returns nil.
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

import CAvahi
import DNSMessage

/// A browser's report.
enum BrowserEvent {
    case appeared(RecordData, AvahiPath)
    case disappeared(RecordData, AvahiPath)
    /// Avahi has reported its cache.
    case cacheExhausted
    /// Avahi has waited a second for answers; more may follow.
    case allForNow
    /// The browser has failed and reports nothing more; the connection's `lastError` has the reason.
    case failed

    /// - Parameter data: reads the record; an event whose record cannot be read is none.
    init?(_ event: AvahiBrowserEvent, _ path: AvahiPath, _ data: () -> RecordData?) {
        switch event {
        case AVAHI_BROWSER_NEW, AVAHI_BROWSER_REMOVE:
            guard let data = data() else { return nil }
            self = event == AVAHI_BROWSER_NEW ? .appeared(data, path) : .disappeared(data, path)
        case AVAHI_BROWSER_CACHE_EXHAUSTED: self = .cacheExhausted
        case AVAHI_BROWSER_ALL_FOR_NOW: self = .allForNow
        default: self = .failed
        }
    }
}

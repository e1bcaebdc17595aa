import DNSSD

/// Something that avahi-daemon looks up for us until it is freed.
protocol Lookup: AnyObject {
    func free()
}

/// What a lookup tells; it may be told on another thread than the one it is for.
protocol LookupEvent: Sendable {
    static func failed(_ error: DiscoveryError) -> Self
}

extension ServiceResolver: Lookup {}
extension ServiceResolver.Event: LookupEvent {}
extension RecordBrowser: Lookup {}
extension RecordBrowser.Event: LookupEvent {}

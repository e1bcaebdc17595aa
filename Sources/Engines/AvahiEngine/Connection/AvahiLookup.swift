import DNSSD

/// A browser or a resolver of libavahi-client (avahi-client/lookup.h), until it is freed; it lives no longer than its connection. Used only on
/// the loop's thread.
///
/// It may be freed from within its own callback, and tells nothing afterwards.
@safe final class AvahiLookup {
    private let connection: AvahiConnection
    private let listener: AnyObject
    private var pointer: OpaquePointer?
    private let destroy: (OpaquePointer) -> Void

    /// - Parameters:
    ///   - what: what failed if the library refuses, for the error.
    ///   - make: calls the library, for a client and with the user data from which the callback gets its `LookupListener`.
    ///   - destroy: the library's function that frees what was made.
    init<Event>(
        on connection: AvahiConnection, during what: String, report: @escaping (Event) -> Void,
        make: (_ client: OpaquePointer, _ userdata: UnsafeMutableRawPointer) -> OpaquePointer?,
        destroy: @escaping (OpaquePointer) -> Void
    ) throws(DiscoveryError) {
        guard let client = unsafe connection.pointer else { throw DiscoveryError(.backendUnavailable, "not connected") }
        let listener = LookupListener(report)
        guard let made = unsafe make(client, Unmanaged.passUnretained(listener).toOpaque()) else {
            throw connection.lastError(during: what)
        }
        self.connection = connection
        self.listener = listener
        unsafe self.destroy = destroy
        unsafe pointer = made
        connection.objectCount += 1
    }

    /// Frees it; a closed connection has done so already.
    func free() {
        guard let made = unsafe pointer else { return }
        unsafe pointer = nil
        guard connection.isOpen else { return }
        unsafe destroy(made)
        connection.objectCount -= 1
    }

    deinit { free() }
}

/// Who hears of a lookup. The library's callbacks get it as their user data.
final class LookupListener<Event> {
    let report: (Event) -> Void

    init(_ report: @escaping (Event) -> Void) { self.report = report }

    static func of(_ userdata: UnsafeMutableRawPointer?) -> LookupListener? {
        unsafe userdata.map { unsafe Unmanaged<LookupListener>.fromOpaque($0).takeUnretainedValue() }
    }
}

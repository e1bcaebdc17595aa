import DNSSD

/// An object of libavahi-client; it lives no longer than its connection. Touched by the loop's thread only.
@safe final class AvahiObject {
    private let connection: AvahiConnection
    private var pointer: OpaquePointer?
    private let destroy: (OpaquePointer) -> Void

    /// - Parameters:
    ///   - pointer: what the library made; nil: it refused.
    ///   - what: what failed then, for the error.
    ///   - destroy: the library's function that frees it.
    init(
        on connection: AvahiConnection, _ pointer: OpaquePointer?, during what: String,
        destroy: @escaping (OpaquePointer) -> Void
    ) throws(DiscoveryError) {
        guard let made = unsafe pointer else { throw connection.lastError(during: what) }
        self.connection = connection
        unsafe self.destroy = destroy
        unsafe self.pointer = made
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

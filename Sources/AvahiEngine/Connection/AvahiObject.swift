import DNSSD

/// An object of libavahi-client, valid at most as long as its connection. Used only on the loop's thread.
@safe final class AvahiObject {
    private let connection: AvahiConnection
    private var pointer: OpaquePointer?
    private let destroy: (OpaquePointer) -> Void

    /// - Parameters:
    ///   - pointer: the library's object; nil if the library refused.
    ///   - what: the attempted action, for the error.
    ///   - destroy: the library's function that frees the object.
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

    /// Frees the object, unless its closed connection has done so.
    func free() {
        guard let made = unsafe pointer else { return }
        unsafe pointer = nil
        guard connection.isOpen else { return }
        unsafe destroy(made)
        connection.objectCount -= 1
    }

    deinit { free() }
}

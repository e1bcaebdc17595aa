import Glibc

/// The address that libdbus, below libavahi-client, takes for the system bus: read from the environment once in a
/// process, before the first connection is made.
final class BusAddress {
    private static let variable = "DBUS_SYSTEM_BUS_ADDRESS"
    /// What libdbus takes without the variable (dbus-arch-deps.h).
    private static let standard = "unix:path=/var/run/dbus/system_bus_socket"

    private let before: String?
    private var isChanged = true

    /// Puts a private bus in the place of the system's, or before it: each address is tried in turn, and a private one
    /// can only be connected to while it was started.
    ///
    /// Changes the environment: to be made where the engine is made, early in a program and not while other threads
    /// read it.
    init(private address: String, thenSystem: Bool) {
        before = SystemFile.environment(Self.variable)
        unsafe setenv(Self.variable, thenSystem ? "\(address);\(before ?? Self.standard)" : address, 1)
    }

    /// libdbus has read it: programs that this one starts get what they would have got.
    func restore() {
        guard isChanged else { return }
        isChanged = false
        if let before { unsafe setenv(Self.variable, before, 1) } else { unsafe unsetenv(Self.variable) }
    }
}

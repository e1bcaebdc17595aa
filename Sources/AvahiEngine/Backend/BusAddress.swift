import Glibc
import System

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
        before = Environment.value(Self.variable)
        unsafe setenv(Self.variable, thenSystem ? "\(address);\(before ?? Self.standard)" : address, 1)
    }

    /// The system bus's own address.
    var system: String { before ?? Self.standard }

    /// The paths in an address of D-Bus's form; other transports are left out. Bytes may be written as `%XX`.
    static func sockets(in address: String) -> [String] {
        address.split(separator: ";").compactMap { entry in
            guard entry.hasPrefix("unix:") else { return nil }
            let path = entry.dropFirst(5).split(separator: ",").first { $0.hasPrefix("path=") }
            return path.flatMap { unescaped($0.dropFirst(5)) }
        }
    }

    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes.isEmpty || bytes.contains(0) ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// libdbus has read it: programs that this one starts get what they would have got.
    func restore() {
        guard isChanged else { return }
        isChanged = false
        if let before { unsafe setenv(Self.variable, before, 1) } else { unsafe unsetenv(Self.variable) }
    }
}

import DiscoverySystem

/// The address of the system bus, as libdbus below libavahi-client takes it.
enum BusAddress {
    private static let variable = "DBUS_SYSTEM_BUS_ADDRESS"
    /// libdbus's default, used if the variable is unset (dbus-arch-deps.h).
    private static let standard = "unix:path=/var/run/dbus/system_bus_socket"

    /// The address that a new connection goes to now.
    static var current: String { Environment.value(variable) ?? standard }

    /// The socket paths in a D-Bus address; other transports are left out. Bytes may be escaped as `%XX`.
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
}

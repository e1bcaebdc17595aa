/// Base64 with padding (RFC 4648 §4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var rest = bytes[...]
        while let first = rest.popFirst() {
            let second = rest.popFirst()
            let third = rest.popFirst()
            let bits = UInt32(first) << 16 | UInt32(second ?? 0) << 8 | UInt32(third ?? 0)
            text.append(alphabet[Int(bits >> 18)])
            text.append(alphabet[Int(bits >> 12) & 0x3F])
            text.append(second == nil ? 0x3D : alphabet[Int(bits >> 6) & 0x3F])
            text.append(third == nil ? 0x3D : alphabet[Int(bits) & 0x3F])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

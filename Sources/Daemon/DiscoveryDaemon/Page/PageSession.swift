/// Who may ask what `discoverd show` serves: whoever has exchanged its token, once, for the key. A value.
///
/// Other users of the machine reach the port too, and the token may stay in a history or a log: so it is worth nothing once the page has
/// been opened.
package struct PageSession: Sendable {
    /// Stands behind `#` of the URL, which a browser does not send (RFC 9110 §4.2.3).
    package let token: String
    private let key: String
    private var isExchanged = false

    /// - Parameter secret: makes 128 random bits.
    package init(secret: () -> String = Self.secret) {
        (token, key) = (secret(), secret())
    }

    /// The key, for the token's first bearer; nil for everyone else.
    package mutating func exchange(_ authorization: String?) -> String? {
        guard !isExchanged, Self.bears(authorization, token) else { return nil }
        isExchanged = true
        return key
    }

    /// Whether a request bears the key.
    package func admits(_ authorization: String?) -> Bool { isExchanged && Self.bears(authorization, key) }

    /// 128 bits of the kernel's generator (getrandom(2), which `SystemRandomNumberGenerator` asks).
    package static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// `Bearer SECRET` (RFC 6750 §2.1), compared in a time that says nothing of the secret.
    private static func bears(_ authorization: String?, _ secret: String) -> Bool {
        let (said, wanted) = (Array((authorization ?? "").utf8), Array("Bearer \(secret)".utf8))
        guard said.count == wanted.count else { return false }
        return zip(said, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

import Libc

/// That a name was paired with by a code: `paired 2026-11-23` after its key.
struct Pairing: Hashable, Sendable {
    private static let word = "paired"

    /// The day; nil where the file does not say it.
    let day: String?

    init(on day: String?) { self.day = day.flatMap { Self.isDay($0) ? $0 : nil } }

    /// What follows a key; nil for a comment.
    init?(_ text: String) {
        let words = text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == 0x0D }
        guard let first = words.first, first.elementsEqual(Self.word.utf8), words.count <= 2 else { return nil }
        let day = words.dropFirst().first.map { String(decoding: $0, as: UTF8.self) }
        guard day.map(Self.isDay) ?? true else { return nil }
        self.init(on: day)
    }

    private static func isDay(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.enumerated().allSatisfy { index, byte in
                index == 4 || index == 7
                    ? byte == UInt8(ascii: "-") : UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            }
    }
}

extension Pairing: CustomStringConvertible {
    var description: String { Self.word + (day.map { " \($0)" } ?? "") }
}

/// Why a key that was not known for a service is let in: its machine was paired with.
public struct Voucher: Hashable, Sendable {
    /// As what it was paired with; nil where names are hashed.
    public var host: PeerName?
    /// When, as `2026-11-23`; nil where the file does not say it.
    public var day: String?

    /// Creates a reason.
    public init(host: PeerName? = nil, day: String? = nil) {
        self.host = host
        self.day = day
    }

    /// For people: that the name has become the machine's; safe for a terminal.
    public func notice(of name: PeerName) -> String {
        let who = host.map { "\($0.text), which" } ?? "a machine that"
        return
            "\(name.text) is answered by \(who) was paired\(day.map { " on \($0)" } ?? ""): the name is bound to its key now"
    }
}

extension KnownPeers {
    /// The day in UTC, as `2026-11-23`; nil where the clock says none.
    public static func today() -> String? {
        var now = time(nil)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&now, &parts) != nil, (0...8099).contains(unsafe parts.tm_year) else { return nil }
        let padded = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        return unsafe "\(1900 + parts.tm_year)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
    }
}

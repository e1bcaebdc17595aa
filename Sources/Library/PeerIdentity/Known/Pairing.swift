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

extension PeerName {
    /// Whoever gives itself a label, as one whose services are dialled: `h1.local` for `h1`, `anna@h1.local` for `anna@h1`.
    ///
    /// A claim, as the label is. Nil where the label makes no host's name: it must not pass for a service.
    public static func host(labelled label: String) -> PeerName? {
        // A backslash would escape the dot.
        guard !label.utf8.contains(UInt8(ascii: "\\")), !label.unicodeScalars.contains(where: \.isBlank),
            let name = PeerName("\(label).local"), case .host = name,
            PeerName(name.description) == name
        else { return nil }
        return name
    }

    /// The names by which whoever gives itself a label is known once it was paired with: as a caller, and as one whose services are dialled.
    public static func paired(_ label: String) -> [PeerName] {
        [.label(label)] + [PeerName.host(labelled: label)].compactMap(\.self)
    }

    var isHost: Bool { if case .host = self { true } else { false } }
}

extension KnownPeers {
    /// The first of the names of a label that has another key; nil where a key can be paired.
    public func conflict(pairing key: KeyFingerprint, labelled label: String) -> Peer? {
        for name in PeerName.paired(label) {
            let keys = keys(of: name)
            if let other = keys.first, !keys.contains(key) { return Peer(name, other) }
        }
        return nil
    }

    /// Makes a key known by all names of a label, so that it is let in when it dials in, and when its services are dialled.
    /// - Parameters:
    ///   - key: the key.
    ///   - label: what the machine is called.
    ///   - day: when, as `2026-11-23`.
    /// - Returns: as `conflict(pairing:labelled:)`; nothing is added then.
    public mutating func pair(
        _ key: KeyFingerprint, labelled label: String, on day: String? = KnownPeers.today()
    ) -> Peer? {
        if let conflict = conflict(pairing: key, labelled: label) { return conflict }
        for name in PeerName.paired(label) { add(Peer(name, key), name.isHost ? Pairing(on: day) : nil) }
        return nil
    }
}

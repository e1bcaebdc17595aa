public import DNSSD

/// The owner of a key, as this machine names it.
public enum PeerName: Sendable {
    /// The peer that answers for a service, and is dialled by that name.
    case service(ServiceInstance)
    /// The peer that answers at a host.
    case host(HostName)
    /// A caller, by what its certificate says of itself: a claim, which the key decides.
    case label(String)

    /// The longest label in bytes (RFC 5280, appendix A.1, ub-common-name, times the bytes of a character).
    public static let longestLabel = 256
    /// The longest label in a message, in characters: a longer one could be a sentence of its own.
    private static let longestShown = 64
}

extension PeerName: Hashable {
    /// Without regard to ASCII case, as DNS compares names: the same name in capitals is the same peer.
    public static func == (one: PeerName, other: PeerName) -> Bool {
        one.description.hasSameFoldedBytes(as: other.description)
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(utf8: description, foldingCase: true) }
}

extension PeerName: LosslessStringConvertible {
    /// Reads what `description` writes.
    public init?(_ text: String) {
        if text.utf8.first == UInt8(ascii: "@") {
            guard let label = Self.unescaped(Substring(text.unicodeScalars.dropFirst())), !label.isEmpty,
                label.utf8.count <= Self.longestLabel
            else { return nil }
            self = .label(label)
        } else if ServiceInstance.looksLikeFullName(text) {
            guard let instance = try? ServiceInstance(fullName: text) else { return nil }
            self = .service(instance)
        } else {
            guard let host = try? HostName(text) else { return nil }
            self = .host(host)
        }
    }

    /// One word: `tony._witap._tcp.local`, `h1.local`, `@anna`; a space is `\032`. Safe for a terminal.
    public var description: String {
        switch self {
        case .service(let instance): Self.word(instance.fullName)
        case .host(let host): Self.word(host.text)
        case .label(let label): "@" + Self.escaped(label)
        }
    }

    /// For messages: spaces as they are.
    public var text: String {
        switch self {
        case .service(let instance): instance.fullName
        case .host(let host): host.text
        // As one word with its mark, so that it reads as nothing else.
        case .label:
            description.unicodeScalars.count > Self.longestShown
                ? String(String.UnicodeScalarView(description.unicodeScalars.prefix(Self.longestShown))) + "…"
                : description
        }
    }

    /// For messages that must not be mistaken: as one word, so that it begins no line that reads as another message where a terminal wraps it.
    public var word: String {
        switch self {
        case .label: text
        case .service, .host: description
        }
    }

    /// Without spaces, and without a first character that means something else in a file.
    private static func word(_ name: String) -> String {
        var word = String.UnicodeScalarView()
        for (index, scalar) in name.unicodeScalars.enumerated() {
            switch scalar {
            case " ": word.append(contentsOf: "\\032".unicodeScalars)
            case "@" where index == 0: word.append(contentsOf: "\\064".unicodeScalars)
            case "#" where index == 0: word.append(contentsOf: "\\035".unicodeScalars)
            default: word.append(scalar)
            }
        }
        return String(word)
    }

    private static func escaped(_ label: String) -> String {
        var result = ""
        for (index, scalar) in label.unicodeScalars.enumerated() {
            let text = String(scalar)
            // "@|" begins a label's hash.
            let isMark = index == 0 && scalar == "|"
            if isMark || scalar == "\\" || scalar == " " || scalar.isBlank || text.needsTerminalEscaping {
                for byte in text.utf8 {
                    let digits = String(byte)
                    result += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
                }
            } else {
                result += text
            }
        }
        return result
    }

    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(3)
            guard digits.count == 3, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
                let escaped = UInt8(String(Substring(digits)))
            else { return nil }
            bytes.append(escaped)
            rest = rest.dropFirst(3)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The name as one word of a POSIX shell's command line.
    public var quotedForShell: String { description.quotedForPOSIXShell }
}

extension Unicode.Scalar {
    /// It looks like a space or like nothing, and is not U+0020.
    var isBlank: Bool {
        switch value {
        case 0x20: false
        case 0x034F, 0x115F, 0x1160, 0x2800, 0x3164, 0xFE00...0xFE0F, 0xFFA0: true
        default:
            switch properties.generalCategory {
            case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }
}

import DNSSD
import DiscoverySystem
import Libc

/// Which keys are let in.
public enum PeerTrust: Hashable, Sendable {
    /// Those that are known; a person is asked about others, if there is one.
    case known
    /// Those that are known, and for a name without a key the first that comes.
    case first
    /// Those that are known, and strangers as such: nothing becomes known, and the program judges who is new, as by a pairing code.
    case strangers
    /// These, whatever is known.
    case pinned(Set<KeyFingerprint>)
    /// Those that a certificate authority vouches for, whatever is known.
    case authority(PeerAuthority)
}

/// What is to be done about a peer's key.
public enum PeerVerdict: Hashable, Sendable {
    /// It is let in.
    case known
    /// It is let in, and becomes the name's key.
    case learned
    /// It is let in, and becomes the service's key, for its machine was paired with.
    case vouched(Voucher)
    /// It is not known; someone may say yes.
    /// - Parameter names: names that it is known under.
    case unknown(names: [PeerName])
    /// The name has another key. Never let in.
    case changed(from: [KeyFingerprint])
    /// It is none of those that are pinned. Never let in.
    case foreign
}

extension KnownPeers {
    /// Judges the key of someone who was dialled by name.
    public func verdict(on key: KeyFingerprint, of name: PeerName, _ trust: PeerTrust) -> PeerVerdict {
        if let verdict = trust.verdict(on: key) { return verdict }
        let known = keys(of: name)
        if known.contains(key) { return .known }
        if !known.isEmpty { return .changed(from: known) }
        let names = names(of: key)
        // A machine that was paired answers for any service that has no key yet, which is bound to it then. No other entry does: whoever wrote it
        // meant the one name.
        if case .service = name, let voucher = voucher(for: key) { return .vouched(voucher) }
        return trust == .first ? .learned : .unknown(names: names)
    }

    /// Judges the key of someone who dialled in. The key decides; the label is its own claim, which is bound to the key that came with
    /// it first.
    public func verdict(onCaller key: KeyFingerprint, claiming label: String, _ trust: PeerTrust) -> PeerVerdict {
        if let verdict = trust.verdict(on: key) { return verdict }
        let name = PeerName.label(label)
        let bound = keys(of: name)
        if !bound.isEmpty, !bound.contains(key) { return .changed(from: bound) }
        // A peer that was only dialled is not let in as a caller.
        if isCaller(key) { return .known }
        return trust == .first ? .learned : .unknown(names: names(of: key))
    }
}

extension PeerTrust {
    /// What it says of a key, whatever is known; nil: it depends on that.
    fileprivate func verdict(on key: KeyFingerprint) -> PeerVerdict? {
        switch self {
        case .known, .first, .strangers: nil
        case .pinned(let keys): keys.contains(key) ? .known : .foreign
        // A key says nothing of its certificate.
        case .authority: .foreign
        }
    }
}

/// Certificate authorities, and the names that they must have certified.
public struct PeerAuthority: Hashable, Sendable {
    /// Why it cannot be used; ends a sentence.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        public let description: String

        package init(_ description: String) { self.description = description }
    }

    private static let longest = 1 << 20

    /// The authorities' certificates, PEM (RFC 7468).
    public var certificates: String
    /// Names of which a peer's certificate must have one. Empty: a peer that is dialled must have the name that was dialled; a caller may have any.
    public var names: Set<String>

    /// Creates a policy.
    public init(certificates: String, names: Set<String> = []) {
        self.certificates = certificates
        self.names = names
    }

    /// With the certificates in a file.
    /// - Throws: where it cannot be read, or others may write it.
    public init(file path: String, names: Set<String> = []) throws(Failure) {
        do throws(SystemError) {
            let bytes = try SystemFile.readTrusted(path, atMost: Self.longest)
            self.init(certificates: String(decoding: bytes, as: UTF8.self), names: names)
        } catch {
            throw Failure(error.code == EPERM ? "\(path): another user may write it" : error.description)
        }
    }

    /// Whether a certificate with these names is valid for the peer that is named `peer` here.
    ///
    /// Of a service that is its instance name or its full name, never the host in its SRV record: that comes from the network, so any certified machine could
    /// answer for any service.
    package func admits(_ certified: [String], as peer: PeerName) -> Bool {
        let wanted = names.isEmpty ? peer.certifiedNames : Array(names)
        guard let wanted else { return true }
        return wanted.contains { name in certified.contains { $0.hasSameFoldedBytes(as: name) } }
    }
}

extension PeerName {
    /// The names that a certificate may have for it; nil: any.
    fileprivate var certifiedNames: [String]? {
        switch self {
        case .service(let instance): [instance.name.text, instance.fullName]
        case .host(let host): [host.text]
        case .label: nil
        }
    }
}

/// Who is let in, as a fleet's configuration says it: a text file with lines `ca PATH` and `name NAME`, or `pin SHA256:…`; `#` begins a comment.
public struct TrustFile: Hashable, Sendable {
    /// What is wrong, and in which line; ends a sentence.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        public let description: String
    }

    /// The file's name in a configuration directory.
    public static let name = "trust"
    private static let longest = 256 * 1024

    /// The files with certificate authorities, absolute paths.
    public var authorities: [String] = []
    /// Names of which a certificate must have one; empty: see `PeerAuthority`.
    public var names: Set<String> = []
    /// Pinned keys.
    public var pins: Set<KeyFingerprint> = []

    /// Reads a file's content.
    /// - Throws: with the line that makes no sense: what is misspelt must not open a door.
    public init(_ content: String) throws(Failure) {
        let lines = content.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.map(Substring.init).enumerated() {
            let words = line.split(maxSplits: 1, whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" })
            guard let keyword = words.first, !keyword.hasPrefix("#") else { continue }
            let value = words.count > 1 ? words[1].trimmedSpaces : ""
            switch keyword {
            case "ca" where value.hasPrefix("/"): authorities.append(value)
            case "name" where !value.isEmpty: names.insert(value)
            case "pin":
                guard let key = KeyFingerprint(value) else { throw Self.failure(index, "no key: SHA256:…") }
                pins.insert(key)
            case "ca": throw Self.failure(index, "no absolute path")
            default: throw Self.failure(index, "neither 'ca PATH', 'name NAME' nor 'pin SHA256:…'")
            }
        }
        if authorities.isEmpty, !names.isEmpty { throw Failure(description: "'name' goes with 'ca'") }
        if !authorities.isEmpty, !pins.isEmpty { throw Failure(description: "'ca' and 'pin' exclude each other") }
    }

    private static func failure(_ index: Int, _ reason: String) -> Failure {
        Failure(description: "line \(index + 1): \(reason)")
    }

    /// The configured trust, from the first of these directories that has the file.
    /// - Returns: nil where none has it, or it says nothing.
    /// - Throws: where it cannot be read, makes no sense, or others may write it.
    public static func trust(in directories: [String]) throws(Failure) -> PeerTrust? {
        for directory in directories {
            let path = "\(directory)/\(name)"
            let bytes: [UInt8]
            do throws(SystemError) {
                bytes = try SystemFile.readTrusted(path, atMost: longest)
            } catch {
                // A link stands for a file: ignoring it would let in peers that it shuts out.
                if error.code == ENOENT, SystemFile.isLink(path) {
                    throw Failure(description: "\(path): a link to nothing")
                }
                if error.code == ENOENT || error.code == ENOTDIR { continue }
                throw Failure(
                    description: error.code == EPERM ? "\(path): another user may write it" : error.description)
            }
            do throws(Failure) {
                return try TrustFile(String(decoding: bytes, as: UTF8.self)).trust()
            } catch {
                throw Failure(description: "\(path): \(error.description)")
            }
        }
        return nil
    }

    /// With the authorities' files read; nil where it says nothing.
    private func trust() throws(Failure) -> PeerTrust? {
        if !pins.isEmpty { return .pinned(pins) }
        guard !authorities.isEmpty else { return nil }
        var all = PeerAuthority(certificates: "", names: names)
        for path in authorities {
            do throws(PeerAuthority.Failure) {
                all.certificates += try PeerAuthority(file: path).certificates + "\n"
            } catch {
                throw Failure(description: error.description)
            }
        }
        return .authority(all)
    }
}

extension Substring {
    fileprivate var trimmedSpaces: String {
        let isSpace = { (character: Character) in character == " " || character == "\t" || character == "\r" }
        var text = self.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}

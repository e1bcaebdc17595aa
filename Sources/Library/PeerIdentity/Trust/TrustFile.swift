import DiscoverySystem
import Libc

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

    /// What the configuration says: of the first of these directories that has the file.
    /// - Returns: nil where none has it, or it says nothing.
    /// - Throws: where it cannot be read, makes no sense, or others may write it.
    public static func trust(in directories: [String]) throws(Failure) -> PeerTrust? {
        for directory in directories {
            let path = "\(directory)/\(name)"
            let bytes: [UInt8]
            do throws(SystemError) {
                bytes = try SystemFile.readTrusted(path, atMost: longest)
            } catch {
                // A link is there for a file: without it, who is shut out would be let in.
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

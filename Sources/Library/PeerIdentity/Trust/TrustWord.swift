/// A word of an option that says whom to trust, as `--trust` of discoverd's commands takes it.
public enum TrustWord: Hashable, Sendable {
    /// `first`: the key that comes first for a name, without asking.
    case first
    /// `SHA256:…`: this key, whatever is known.
    case key(KeyFingerprint)
    /// A file of certificate authorities (PEM): whom they vouch for, whatever is known.
    case authority(file: String)
    /// `name=NAME`: a name that they have to vouch for.
    case name(String)

    /// Why a word, or several together, say nothing; a sentence without its full stop, not safe for a terminal.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        public let description: String
    }

    /// Reads a word: what is nothing else is the path of a file.
    /// - Throws: where `SHA256:` begins no key, or `name=` no name.
    public init(_ text: String) throws(Failure) {
        if text == "first" {
            self = .first
        } else if text.hasPrefix("SHA256:") {
            guard let key = KeyFingerprint(text) else {
                throw Failure(
                    description: "'\(text)' is no key: SHA256: and 43 characters, as 'discoverd key show' prints")
            }
            self = .key(key)
        } else if text.hasPrefix("name=") {
            let name = String(text.dropFirst(5))
            guard !name.isEmpty else { throw Failure(description: "name= says no name") }
            self = .name(name)
        } else {
            self = .authority(file: text)
        }
    }

    /// Whether words go together: keys, `first` or one file, which alone has names.
    /// - Throws: why they do not.
    public static func check(_ words: [TrustWord]) throws(Failure) {
        let (keys, files) = (words.keys, words.files)
        if [words.contains(.first), !keys.isEmpty, !files.isEmpty].count(where: \.self) > 1 || files.count > 1 {
            throw Failure(description: "--trust takes keys, or 'first', or one file of certificate authorities")
        }
        if files.isEmpty, !words.names.isEmpty {
            throw Failure(description: "--trust name=NAME goes with a file of certificate authorities")
        }
    }
}

extension PeerTrust {
    /// What words that go together say; nil where there are none.
    /// - Throws: where the authorities' file cannot be read, or others may write it.
    public init?(_ words: [TrustWord]) throws(PeerAuthority.Failure) {
        if let file = words.files.first {
            self = .authority(try PeerAuthority(file: file, names: words.names))
        } else if words.contains(.first) {
            self = .first
        } else if !words.keys.isEmpty {
            self = .pinned(words.keys)
        } else {
            return nil
        }
    }
}

extension [TrustWord] {
    fileprivate var keys: Set<KeyFingerprint> {
        Set(compactMap { if case .key(let key) = $0 { key } else { nil } })
    }

    fileprivate var files: [String] { compactMap { if case .authority(let file) = $0 { file } else { nil } } }

    fileprivate var names: Set<String> { Set(compactMap { if case .name(let name) = $0 { name } else { nil } }) }
}

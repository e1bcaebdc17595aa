import DNSMessage
public import DNSSD
import DiscoverySystem
import Libc

/// A key in the format of BIND's configuration, which `tsig-keygen` writes and `nsupdate -k` reads:
/// `key "name" { algorithm hmac-sha256; secret "BASE64"; };`. Errors quote nothing from the file.
struct TSIGKeyFile {
    /// A fault in the text, as the end of a sentence that begins with the file's name.
    struct Fault: Error, Hashable { let text: String }

    private enum Token: Hashable {
        case word(String)
        case open, close, semicolon
    }

    /// The key.
    let key: TSIGKey

    init(parsing bytes: [UInt8]) throws(Fault) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Fault(text: "is not text") }
        var tokens = try Self.tokens(of: text)[...]
        let format = Fault(
            text: "is not a key as tsig-keygen(8) writes it: key \"NAME\" { algorithm …; secret \"…\"; };")
        guard tokens.popFirst() == .word("key"), case .word(let name) = tokens.popFirst(), tokens.popFirst() == .open
        else { throw format }
        var values: [String: String] = [:]
        while case .word(let keyword) = tokens.first {
            tokens.removeFirst()
            guard case .word(let value) = tokens.popFirst(), tokens.popFirst() == .semicolon,
                ["algorithm", "secret"].contains(keyword), values.updateValue(value, forKey: keyword) == nil
            else { throw format }
        }
        guard tokens.popFirst() == .close, tokens.isEmpty || tokens.popFirst() == .semicolon else { throw format }
        guard tokens.isEmpty else { throw Fault(text: "has more than one key") }
        guard let algorithm = values["algorithm"], let secret = values["secret"] else { throw format }

        guard let domain = try? Domain(name), let name = try? DomainName(labels: domain.labels) else {
            throw Fault(text: "has a key without a name of DNS")
        }
        let plain = algorithm.hasSuffix(".") ? String(algorithm.dropLast()) : algorithm
        guard let algorithm = TSIGKey.Algorithm(rawValue: plain.lowercased()) else {
            let known = TSIGKey.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw Fault(text: "has a key of another algorithm than \(known)")
        }
        guard let bytes = Base64.decode(secret.filter { !$0.isWhitespace }), !bytes.isEmpty else {
            throw Fault(text: "has a secret that is not base64")
        }
        key = TSIGKey(name: name, algorithm: algorithm, secret: bytes)
    }

    private static func tokens(of text: String) throws(Fault) -> [Token] {
        var tokens: [Token] = []
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case _ where scalar.properties.isWhitespace: break
            case "{": tokens.append(.open)
            case "}": tokens.append(.close)
            case ";": tokens.append(.semicolon)
            case "#": rest = rest.drop { $0 != "\n" }
            case "/" where rest.first == "/": rest = rest.drop { $0 != "\n" }
            case "/" where rest.first == "*":
                rest.removeFirst()
                while !(rest.first == "*" && rest.dropFirst().first == "/") {
                    guard rest.popFirst() != nil else { throw Fault(text: "has a comment without an end") }
                }
                rest = rest.dropFirst(2)
            case "\"":
                let word = rest.prefix { $0 != "\"" }
                rest = rest.dropFirst(word.count)
                guard rest.popFirst() != nil else { throw Fault(text: "has a quotation mark without its second") }
                tokens.append(.word(String(word)))
            default:
                let more = rest.prefix { !$0.properties.isWhitespace && !"{};\"#".unicodeScalars.contains($0) }
                rest = rest.dropFirst(more.count)
                tokens.append(.word(String(scalar) + String(more)))
            }
        }
        return tokens
    }
}

extension TSIGKey {
    /// The largest file that is read, in bytes.
    private static let maximumSize = 64 << 10

    /// Reads a key from a file in the format of BIND's configuration (`tsig-keygen`, `nsupdate -k`).
    /// - Parameter name: a path. Without a slash it names one of systemd's credentials, if the process has any
    ///   (systemd.exec(5), `LoadCredential=`).
    /// - Throws: `.misconfigured` if there is no such file, others than its owner and group may access it, or it is not
    ///   exactly one key. The message never contains the secret.
    public init(file name: String) throws(DiscoveryError) {
        var path = name
        if !name.contains("/"), let directory = Environment.directory("CREDENTIALS_DIRECTORY") {
            path = "\(directory)/\(name)"
        }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try SystemFile.readPrivate(path, atMost: Self.maximumSize)
        } catch {
            let fault =
                switch error.code {
                case EPERM: "may be read or written by others than its owner and its group: chmod 640"
                case EINVAL: "is no regular file"
                case EFBIG: "is larger than 64 KiB"
                case ENOENT: "is not there"
                default: "cannot be read: \(SystemError.text(error.code))"
                }
            throw Self.misconfigured(path, fault)
        }
        do throws(TSIGKeyFile.Fault) {
            self = try TSIGKeyFile(parsing: bytes).key
        } catch {
            throw Self.misconfigured(path, error.text)
        }
    }

    private static func misconfigured(_ path: String, _ fault: String) -> DiscoveryError {
        DiscoveryError(.misconfigured, "the key file \(path.escapedForTerminal) \(fault)")
    }
}

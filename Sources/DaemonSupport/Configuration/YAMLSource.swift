internal import DNSSD
internal import Yams

/// The text of a configuration file as a tree of YAML nodes, from which nothing can be built that is larger than the text.
enum YAMLSource {
    /// The largest file in bytes.
    static let maximumSize = 256 * 1024
    /// The deepest nesting.
    static let maximumDepth = 16
    /// Words that may look like an alias. So few cannot build a tree that matters, even nested.
    private static let maximumSuspects = 16

    /// The root of the only document; nil when there is none.
    static func parse(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> Node? {
        guard bytes.count <= maximumSize else {
            throw ConfigurationError(file: file, line: nil, reason: "larger than \(maximumSize / 1024) KiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(file: file, line: lineOfBrokenUTF8(bytes), reason: "not UTF-8")
        }
        try refuseAliases(bytes, file: file)
        do {
            let parser = try Parser(yaml: text, encoding: .utf8)
            let root = try parser.singleRoot()
            // Nodes hold their anchors weakly: the parser owns them.
            try withExtendedLifetime(parser) { if let root { try check(root, depth: 1, file: file) } }
            return root
        } catch let error as ConfigurationError {
            throw error
        } catch let error as YamlError {
            throw ConfigurationError(error, file: file)
        } catch {
            throw ConfigurationError(file: file, line: nil, reason: "\(error)".escapedForTerminal)
        }
    }

    /// The parser replaces an alias by what it stands for before anything can be asked of it, so a text full of them is
    /// refused unread. A few are let through, and refused by their anchors.
    private static func refuseAliases(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        var suspects = 0
        var line = 1
        var previous = UInt8(ascii: "\n")
        for byte in bytes {
            if byte == UInt8(ascii: "*"), " \t\n\r[{,:-?".utf8.contains(previous) {
                suspects += 1
                guard suspects <= maximumSuspects else {
                    throw ConfigurationError(
                        file: file, line: line, reason: "more than \(maximumSuspects) words that begin with *")
                }
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            previous = byte
        }
    }

    private static func check(_ node: Node, depth: Int, file: String) throws(ConfigurationError) {
        func fail(_ reason: String) -> ConfigurationError {
            ConfigurationError(file: file, line: node.mark?.line, reason: reason)
        }
        guard depth <= maximumDepth else { throw fail("nested deeper than \(maximumDepth) levels") }
        guard node.anchor == nil else { throw fail("anchors and aliases (& and *) are not supported") }
        switch node {
        case .scalar, .alias: break
        case .sequence(let sequence):
            for child in sequence { try check(child, depth: depth + 1, file: file) }
        case .mapping(let mapping):
            for (key, value) in mapping {
                guard case .scalar = key else { throw fail("a key is a word, not a list or mapping") }
                try check(key, depth: depth + 1, file: file)
                try check(value, depth: depth + 1, file: file)
            }
        }
    }

    private static func lineOfBrokenUTF8(_ bytes: [UInt8]) -> Int? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }.map { $0 + 1 }
    }
}

extension ConfigurationError {
    /// The parser's own error in one line; it would quote the file.
    fileprivate init(_ error: YamlError, file: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(file: file, line: mark.line, reason: "not YAML: \(problem.escapedForTerminal)")
        case .reader(let problem, let offset, _, let yaml):
            let line = offset.map { yaml.utf8.prefix($0).count { $0 == UInt8(ascii: "\n") } + 1 }
            self.init(file: file, line: line, reason: "not YAML: \(problem.escapedForTerminal)")
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.map(\.quotedForMessage).joined(separator: ", ")
            self.init(file: file, line: context.mark.line, reason: "the key \(names) is there twice")
        default:
            self.init(file: file, line: nil, reason: "not YAML")
        }
    }
}

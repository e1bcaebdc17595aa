internal import DNSSD

/// Parses a configuration file into a tree of nodes, never larger than the text.
enum YAMLSource {
    /// The maximum size of a file in bytes.
    static let maximumSize = 256 * 1024
    /// The maximum nesting depth.
    static let maximumDepth = 16

    /// The root of the only document; nil if there is none.
    static func parse(_ bytes: [UInt8], file: String) throws(ConfigurationError) -> Node? {
        guard bytes.count <= maximumSize else {
            throw ConfigurationError(file: file, line: nil, reason: "larger than \(maximumSize / 1024) KiB")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ConfigurationError(file: file, line: lineOfBrokenUTF8(bytes), reason: "not UTF-8")
        }
        let events = try YAMLEvents(bytes, file: file)
        guard case .document = try events.next().kind else { return nil }
        let root = try node(try events.next(), events, depth: 1, file: file)
        _ = try events.next()
        let next = try events.next()
        guard case .streamEnd = next.kind else {
            throw ConfigurationError(file: file, line: next.line, reason: "not YAML: more than one document")
        }
        return root
    }

    private static func node(
        _ event: YAMLEvents.Event, _ events: borrowing YAMLEvents, depth: Int, file: String
    ) throws(ConfigurationError) -> Node {
        func fail(_ reason: String) -> ConfigurationError {
            ConfigurationError(file: file, line: event.line, reason: reason)
        }
        guard depth <= maximumDepth else { throw fail("nested deeper than \(maximumDepth) levels") }
        guard !event.hasAnchor else { throw fail("anchors and aliases (& and *) are not supported") }
        switch event.kind {
        case .scalar(let scalar): return Node(line: event.line, content: .scalar(scalar))
        case .sequence:
            var nodes: [Node] = []
            while let next = try part(events) { nodes.append(try node(next, events, depth: depth + 1, file: file)) }
            return Node(line: event.line, content: .sequence(nodes))
        case .mapping:
            var entries: [(key: Node, value: Node)] = []
            var keys: Set<String> = []
            while let next = try part(events) {
                let key = try node(next, events, depth: depth + 1, file: file)
                guard let text = key.scalar?.string else {
                    throw ConfigurationError(
                        file: file, line: key.line, reason: "a key is a word, not a list or mapping")
                }
                guard keys.insert(text).inserted else {
                    throw ConfigurationError(
                        file: file, line: key.line, reason: "the key \(text.quotedForMessage) is there twice")
                }
                entries.append((key, try node(try events.next(), events, depth: depth + 1, file: file)))
            }
            return Node(line: event.line, content: .mapping(entries))
        case .alias: throw fail("anchors and aliases (& and *) are not supported; quote a text that begins with *")
        case .tag(let tag): throw fail("quote a text that begins with !, as \(tag.quotedForMessage)")
        // libyaml's events follow its grammar (yaml.h): these do not begin a node.
        case .document, .end, .streamEnd: throw fail("not YAML")
        }
    }

    /// The next part of a sequence or mapping; nil at its end.
    private static func part(_ events: borrowing YAMLEvents) throws(ConfigurationError) -> YAMLEvents.Event? {
        let event = try events.next()
        if case .end = event.kind { return nil }
        return event
    }

    private static func lineOfBrokenUTF8(_ bytes: [UInt8]) -> Int? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }.map { $0 + 1 }
    }
}

/// A node of a YAML document, with the line where it begins. Aliases are refused, so every node is literal.
struct Node {
    struct Scalar {
        let string: String
        /// Written without quotes, and not as a block.
        let isPlain: Bool
    }

    enum Content {
        case scalar(Scalar)
        case sequence([Node])
        case mapping([(key: Node, value: Node)])
    }

    /// From 1.
    let line: Int
    let content: Content

    var scalar: Scalar? { if case .scalar(let scalar) = content { scalar } else { nil } }
}

internal import CYAML
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
            throw ConfigurationError(file: file, line: next.line, reason: "more than one document, and a file has one")
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

/// libyaml's events for a text, one after another (yaml.h, `yaml_parser_parse`). They follow the order of the text and never refer to each
/// other, so nothing outgrows it.
@safe struct YAMLEvents: ~Copyable {
    /// An event, and the line where it begins.
    struct Event {
        enum Kind {
            case document, scalar(Node.Scalar), sequence, mapping
            /// The end of a sequence, a mapping or a document.
            case end
            case alias
            /// A text that begins with `!` and is not quoted.
            case tag(String)
            /// Nothing follows.
            case streamEnd
        }

        let kind: Kind
        let line: Int
        let hasAnchor: Bool
    }

    /// It stores its own address, so it must not move (api.c, `yaml_parser_set_input_string`).
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>
    private let file: String

    /// - Parameter bytes: UTF-8.
    init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        unsafe parser = .allocate(capacity: 1)
        unsafe text = .allocate(capacity: bytes.count)
        self.file = file
        _ = unsafe text.initialize(from: bytes)
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            throw ConfigurationError(file: file, line: nil, reason: "cannot be read: no memory")
        }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe text.deallocate()
    }

    /// - Throws: a syntax error, with its line.
    func next() throws(ConfigurationError) -> Event {
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault() }
            defer { unsafe yaml_event_delete(&event) }
            if let read = unsafe Self.read(event) { return read }
        }
    }

    /// - Returns: nil for an event without meaning here.
    private static func read(_ event: yaml_event_t) -> Event? {
        let line = unsafe Int(clamping: event.start_mark.line) &+ 1
        switch unsafe event.type {
        case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return Event(kind: .streamEnd, line: line, hasAnchor: false)
        case YAML_DOCUMENT_START_EVENT: return Event(kind: .document, line: line, hasAnchor: false)
        case YAML_DOCUMENT_END_EVENT, YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
            return Event(kind: .end, line: line, hasAnchor: false)
        case YAML_ALIAS_EVENT: return Event(kind: .alias, line: line, hasAnchor: false)
        case YAML_SEQUENCE_START_EVENT:
            return unsafe Event(kind: .sequence, line: line, hasAnchor: event.data.sequence_start.anchor != nil)
        case YAML_MAPPING_START_EVENT:
            return unsafe Event(kind: .mapping, line: line, hasAnchor: event.data.mapping_start.anchor != nil)
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            // One of YAML's own is "tag:yaml.org,2002:str".
            if let tag = unsafe scalar.tag, unsafe tag.pointee == UInt8(ascii: "!") {
                return unsafe Event(
                    kind: .tag(String(cString: tag)), line: line, hasAnchor: scalar.anchor != nil)
            }
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let value = unsafe Node.Scalar(
                string: String(decoding: bytes, as: UTF8.self), isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
            return unsafe Event(kind: .scalar(value), line: line, hasAnchor: scalar.anchor != nil)
        default: return nil
        }
    }

    /// The parser's own error in one line; the parser would quote the file.
    private func fault() -> ConfigurationError {
        let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "no memory"
        var line = unsafe Int(clamping: parser.pointee.problem_mark.line) &+ 1
        if unsafe parser.pointee.error == YAML_READER_ERROR {
            let offset = unsafe Int(clamping: parser.pointee.problem_offset)
            line = unsafe text.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
        }
        return ConfigurationError(file: file, line: line, reason: "not YAML: \(problem.escapedForTerminal)\(hint)")
    }

    /// What to write instead, where the parser stumbled over a character that means something else to it.
    private var hint: String {
        let hasContext = unsafe parser.pointee.context != nil
        let mark = unsafe hasContext ? parser.pointee.context_mark : parser.pointee.problem_mark
        let lines = unsafe Array(text).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let row = Int(exactly: mark.line), let column = Int(exactly: mark.column), row < lines.count else {
            return ""
        }
        switch String(decoding: lines[row], as: UTF8.self).unicodeScalars.dropFirst(column).first {
        case let character? where "%@`!*&".unicodeScalars.contains(character):
            return "; quote a text that begins with \(character)"
        default: return ""
        }
    }
}

extension DomainName {
    /// Reads a name as people write it, with or without the final dot: `h1.local`, `Tony\.s._http._tcp.local`.
    ///
    /// `\` takes the meaning from the character that follows it, and `\DDD` is the byte of that decimal number (RFC 1035
    /// §5.1). Other characters stand for their UTF-8 bytes. `.` is the root.
    /// - Throws: `.invalidName` if a label is empty or longer than 63 bytes, the name longer than 255, or an escape
    ///   incomplete.
    public init(presentation text: String) throws(MessageError) {
        guard text != "." else {
            self = .root
            return
        }
        var labels: [[UInt8]] = [[]]
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard labels.count <= Self.maximumLength / 2 + 1 else { throw .invalidName }
            switch byte {
            case UInt8(ascii: "."): labels.append([])
            case UInt8(ascii: "\\"): labels[labels.count - 1].append(try Self.escaped(&rest))
            default: labels[labels.count - 1].append(byte)
            }
        }
        if labels.count > 1, labels.last == [] { labels.removeLast() }
        try self.init(labels: labels)
    }

    /// Takes what follows a backslash.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) throws(MessageError) -> UInt8 {
        guard let first = rest.popFirst() else { throw .invalidName }
        guard 0x30...0x39 ~= first else { return first }
        var number = Int(first) - 0x30
        for _ in 0..<2 {
            guard let digit = rest.popFirst(), 0x30...0x39 ~= digit else { throw .invalidName }
            number = number * 10 + Int(digit) - 0x30
        }
        guard let byte = UInt8(exactly: number) else { throw .invalidName }
        return byte
    }
}

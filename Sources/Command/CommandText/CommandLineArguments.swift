internal import DNSSD

/// The command line in the system's bytes, prepared for a parser that handles only text. A value.
public struct CommandLineArguments: Sendable {
    /// An argument that must be text, but is not.
    public struct NotUTF8: Error, Hashable, Sendable {
        /// The argument for people, with non-ASCII bytes as `\xFC`.
        public let argument: String
    }

    /// Prefixes an operand behind `--` that would read as something else: an option, a type, a host. No process argument can contain this character.
    private static let mark = "\u{0}"

    /// The arguments for the parser, without the program's name.
    public let texts: [String]
    /// The program and arguments after `--`, byte for byte.
    package let program: [[UInt8]]

    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - runners: commands that take a program after `--`, and TXT strings with `--txt`. Before any operand, as in `publish -- NAME`, the first
    ///     `--` ends the options as usual, and the program follows a second one.
    /// - Throws: `NotUTF8` for an argument before `--` that is not UTF-8; TXT strings may be.
    public init(_ arguments: [[UInt8]], runners: Set<String>) throws(NotUTF8) {
        try self.init(arguments, runners: runners) { _, _ in true }
    }

    /// The same.
    /// - Parameter takesValue: whether an option of a runner takes the next argument.
    package init(
        _ arguments: [[UInt8]], runners: Set<String>, takesValue: (_ command: String, _ option: String) -> Bool
    ) throws(NotUTF8) {
        var arguments = arguments
        let command = arguments.firstIndex { !Self.isOption($0) }
        let runner = command.map { Self.text(arguments[$0]) }.flatMap { runners.contains($0) ? $0 : nil }
        let runs = runner != nil
        /// The first operand, where `--` comes before it.
        var first: Int?
        let terminator = Array("--".utf8)
        if let command, let runner, let end = arguments.firstIndex(of: terminator), command < end,
            end + 1 < arguments.count,
            !Self.hasOperand(arguments[(command + 1)..<end], { takesValue(runner, $0) })
        {
            arguments.remove(at: end)
            first = end
        }
        let rest = arguments[(first.map { $0 + 1 } ?? 0)...]
        let end = runs ? rest.firstIndex(of: terminator) ?? arguments.count : arguments.count
        program = Array(arguments[end...].dropFirst())
        var texts: [String] = []
        for (index, argument) in arguments[..<end].enumerated() {
            if let text = String(validating: argument, as: UTF8.self) {
                texts.append(index == first && Self.isDoubtful(argument) ? Self.mark + text : text)
            } else if runs, texts.last == "--txt", let encoded = Self.encoded(argument) {
                texts[texts.count - 1] = "--txt-base64"
                texts.append(encoded)
            } else if runs, argument.starts(with: "--txt=".utf8),
                let encoded = Self.encoded(Array(argument.dropFirst(6)))
            {
                texts.append("--txt-base64=" + encoded)
            } else {
                throw NotUTF8(argument: Self.shown(argument))
            }
        }
        self.texts = texts + arguments[end...].map(Self.text)
    }

    private static func isOption(_ argument: [UInt8]) -> Bool { argument.first == UInt8(ascii: "-") }

    /// Whether a name could be taken for something else.
    private static func isDoubtful(_ argument: [UInt8]) -> Bool {
        isOption(argument) || argument.first == UInt8(ascii: "_") || argument.contains(UInt8(ascii: "."))
    }

    /// Whether these arguments of a command are more than options and their values.
    private static func hasOperand(_ arguments: ArraySlice<[UInt8]>, _ takesValue: (String) -> Bool) -> Bool {
        var rest = arguments
        while let argument = rest.popFirst() {
            guard isOption(argument), argument.count > 1 else { return true }
            // What an option takes is only of interest where it could be an operand.
            if let next = rest.first, !isOption(next), takesValue(text(argument)) { rest.removeFirst() }
        }
        return false
    }

    /// Whether an operand behind `--` would read as something else.
    package var hasMarked: Bool { texts.contains { $0.hasPrefix(Self.mark) } }

    /// A parser's text as it was on the command line.
    package static func unmarked(_ text: String) -> String {
        text.hasPrefix(mark) ? String(text.unicodeScalars.dropFirst()) : text
    }

    /// `KEY=BYTES` as `KEY=BASE64`; nil if the key is not text.
    private static func encoded(_ string: [UInt8]) -> String? {
        guard let sign = string.firstIndex(of: UInt8(ascii: "=")),
            let key = String(validating: string[..<sign], as: UTF8.self)
        else { return nil }
        return "\(key)=\(Base64.encode(Array(string[(sign + 1)...])))"
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func shown(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            (0x20...0x7E).contains(byte)
                ? String(Unicode.Scalar(byte)) : (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}

extension CommandLineArguments {
    /// This process's arguments, without its name.
    public static func ofProcess() -> [[UInt8]] {
        // The standard library's copies replace invalid UTF-8.
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            guard let start = unsafe CommandLine.unsafeArgv[index] else { return nil }
            var bytes: [UInt8] = []
            var next = unsafe start
            while unsafe next.pointee != 0 {
                bytes.append(UInt8(bitPattern: unsafe next.pointee))
                unsafe next += 1
            }
            return bytes
        }
    }
}

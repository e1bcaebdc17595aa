internal import DNSSD

/// The command line in the system's bytes, prepared for a parser that handles only text. A value.
public struct CommandLineArguments: Sendable {
    /// An argument that must be text, but is not.
    public struct NotUTF8: Error, Hashable, Sendable {
        /// The argument for people, with non-ASCII bytes as `\xFC`.
        public let argument: String
    }

    /// Prefixes an operand that begins with a hyphen. No process argument can contain this character.
    private static let mark = "\u{0}"

    /// The arguments for the parser, without the program's name.
    public let texts: [String]
    /// The program and arguments after `--`, byte for byte.
    package let program: [[UInt8]]

    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - runners: commands that take a program after `--`, and TXT strings with `--txt`. In `publish -- -NAME`, the first `--` ends the
    ///     options as usual, and the program follows a second one.
    /// - Throws: `NotUTF8` for an argument before `--` that is not UTF-8; TXT strings may be.
    public init(_ arguments: [[UInt8]], runners: Set<String>) throws(NotUTF8) {
        var arguments = arguments
        let runs = arguments.first { $0.first != UInt8(ascii: "-") }.map { runners.contains(Self.text($0)) } ?? false
        var marked: Int?
        let terminator = Array("--".utf8)
        if runs, let end = arguments.firstIndex(of: terminator), end + 1 < arguments.count,
            arguments[end + 1].first == UInt8(ascii: "-"), arguments[end + 1] != terminator
        {
            arguments.remove(at: end)
            marked = end
        }
        let end = runs ? arguments.firstIndex(of: terminator) ?? arguments.count : arguments.count
        program = Array(arguments[end...].dropFirst())
        var texts: [String] = []
        for (index, argument) in arguments[..<end].enumerated() {
            if let text = String(validating: argument, as: UTF8.self) {
                texts.append(index == marked ? Self.mark + text : text)
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

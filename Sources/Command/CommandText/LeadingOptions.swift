/// Options of all commands that stand before the command, moved to where the parser reads them: `-q browse http` is `browse http -q`.
package enum LeadingOptions {
    private static let letters: Set<UInt8> = Set("46qv".utf8)
    private static let flags: Set<String> = [
        "--json", "--verbose", "--quiet", "--no-daemon", "--ipv4", "--ipv6",
    ]
    private static let valued: Set<String> = [
        "--socket", "--interface", "--domain", "--server", "--avahi", "--backend", "--finder", "--timeout",
    ]

    /// The arguments with such options behind the command's own, and before what follows `--`.
    package static func moved(_ arguments: [[UInt8]]) -> [[UInt8]] {
        var count = 0
        while count < arguments.count, let width = width(arguments[count]) { count += width }
        guard count > 0, count < arguments.count, arguments[count].first != UInt8(ascii: "-") else { return arguments }
        var moved = Array(arguments[count...])
        moved.insert(contentsOf: arguments[..<count], at: moved.firstIndex(of: Array("--".utf8)) ?? moved.count)
        return moved
    }

    /// Whether there are such options, and nothing else.
    package static func areAll(_ arguments: [String]) -> Bool {
        var rest = arguments.map { Array($0.utf8) }[...]
        while let first = rest.first, let width = width(first), width <= rest.count { rest.removeFirst(width) }
        return !arguments.isEmpty && rest.isEmpty
    }

    /// How many arguments the option takes, itself included; nil where it is none of these.
    private static func width(_ argument: [UInt8]) -> Int? {
        guard argument.count > 1, argument[0] == UInt8(ascii: "-") else { return nil }
        if argument[1] != UInt8(ascii: "-") { return argument.dropFirst().allSatisfy(letters.contains) ? 1 : nil }
        let name = String(decoding: argument.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        if valued.contains(name) { return name.utf8.count < argument.count ? 1 : 2 }
        return flags.contains(name) && name.utf8.count == argument.count ? 1 : nil
    }
}

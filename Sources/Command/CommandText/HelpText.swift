/// Fits ArgumentParser's help, rendered without a line limit, to the terminal's width.
public enum HelpText {
    /// A line length at which ArgumentParser never wraps.
    public static let unlimited = 100_000
    /// With less room than this, the second column is dropped.
    private static let leastColumn = 24

    /// Fits a parser's final text, usually help, to the width of the terminal behind `descriptor`, or to 80 columns.
    public static func fitted(_ text: String, to descriptor: Int32) -> String {
        guard text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ") else { return text }
        return wrapped(text, to: TerminalText.columns(descriptor) ?? 80)
    }

    /// Refills paragraphs. Indented lines stay separate, and continue under their second column.
    package static func wrapped(_ text: String, to columns: Int) -> String {
        let columns = max(20, columns)
        var result: [String] = []
        var paragraph: [Substring] = []
        func close() {
            guard let first = paragraph.first else { return }
            let hanging = first.hasPrefix("USAGE: ") || first.hasPrefix("Usage: ") ? 7 : 0
            let words = paragraph.flatMap { $0.split(separator: " ") }
            result += fill(words, to: columns, first: "", next: String(repeating: " ", count: hanging))
            paragraph = []
        }
        var isExample = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty || line.hasPrefix(" ") {
                close()
                if line.isEmpty { isExample = false }
                result += line.isEmpty ? [""] : isExample ? example(line, to: columns) : indented(line, to: columns)
            } else {
                isExample = line == "Examples:"
                // The list of exit statuses, and the text after a heading, are paragraphs of their own.
                if line.hasPrefix("Exit status:") || paragraph.last?.hasSuffix(":") == true { close() }
                paragraph.append(line)
            }
        }
        close()
        return result.joined(separator: "\n")
    }

    /// A command stays whole, to be copied: what is said of it goes below it where there is no room beside it.
    private static func example(_ line: Substring, to columns: Int) -> [String] {
        let indent = line.prefix { $0 == " " }.count
        let body = line.dropFirst(indent)
        guard DisplayWidth.of(line) > columns, let gap = gap(in: body) else { return [String(line)] }
        guard columns - line[..<gap.upperBound].count < leastColumn else { return indented(line, to: columns) }
        let below = String(repeating: " ", count: indent + 4)
        let remark = body[gap.upperBound...].split(separator: " ")
        return [String(line[..<gap.lowerBound])] + fill(remark, to: columns, first: below, next: below)
    }

    private static func indented(_ line: Substring, to columns: Int) -> [String] {
        guard DisplayWidth.of(line) > columns else { return [String(line)] }
        let indent = line.prefix { $0 == " " }.count
        let body = line.dropFirst(indent)
        let hang = String(repeating: " ", count: indent)
        guard let gap = gap(in: body) else {
            return fill(body.split(separator: " "), to: columns, first: hang, next: hang)
        }
        let (label, column) = (body[..<gap.lowerBound], line[..<gap.upperBound].count)
        let words = body[gap.upperBound...].split(separator: " ")
        if columns - column >= leastColumn {
            let start = String(line[..<gap.upperBound])
            return fill(words, to: columns, first: start, next: String(repeating: " ", count: column))
        }
        let under = hang + "    "
        return fill(label.split(separator: " "), to: columns, first: hang, next: under)
            + fill(words, to: columns, first: under, next: under)
    }

    /// The blanks before the second column.
    private static func gap(in body: Substring) -> Range<Substring.Index>? {
        var start: Substring.Index?
        for index in body.indices {
            if body[index] == " " {
                start = start ?? index
            } else if let begin = start {
                if body.distance(from: begin, to: index) >= 2 { return begin..<index }
                start = nil
            }
        }
        return nil
    }

    private static func fill(_ words: [Substring], to columns: Int, first: String, next: String) -> [String] {
        var lines: [String] = []
        var line = first
        var isFresh = true
        for word in words {
            if isFresh {
                line += word
                isFresh = false
            } else if DisplayWidth.of(line) + 1 + DisplayWidth.of(word) <= columns {
                line += " " + word
            } else {
                lines.append(line)
                line = next + word
            }
        }
        return lines + [line]
    }
}

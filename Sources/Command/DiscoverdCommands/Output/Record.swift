#if Commands
internal import CommandText
internal import DNSSD

/// One line of human output: fields aligned in columns on a terminal, separated by tabs otherwise.
struct Record {
    /// A field, and the width it is padded to on a terminal.
    struct Field {
        let text: String
        let width: Int
        let colour: Colour?
    }

    private var fields: [Field] = []

    /// Adds a field. Its content is escaped: it cannot break the line or reach the terminal raw.
    mutating func add(_ text: String, width: Int, colour: Colour? = nil) {
        add(safe: text.escapedForTerminal, width: width, colour: colour)
    }

    /// Adds a field that is already safe for a terminal, as descriptions of DNS-SD values are.
    mutating func add(safe text: some CustomStringConvertible, width: Int, colour: Colour? = nil) {
        fields.append(Field(text: text.description, width: width, colour: colour))
    }

    /// Adds the fields of another record.
    mutating func add(_ other: Record) { fields += other.fields }

    /// The line without its end.
    func line(for terminal: Terminal) -> String {
        guard terminal.isInteractive else { return fields.map(\.text).joined(separator: "\t") }
        return aligned(isUTF8: terminal.isUTF8) { terminal.paint($0, $1) }
    }

    /// The line as a terminal shows it, without colours.
    var aligned: String { aligned(isUTF8: true) { text, _ in text } }

    private func aligned(isUTF8: Bool, _ paint: (String, Colour) -> String) -> String {
        var line = ""
        for (position, field) in fields.enumerated() {
            let text = field.text.tamed(isUTF8: isUTF8)
            line += field.colour.map { paint(text, $0) } ?? text
            guard position < fields.count - 1 else { break }
            line += String(repeating: " ", count: max(field.width - DisplayWidth.of(text), 0) + 2)
        }
        return line
    }
}
#endif

package import DNSMessage

/// This machine's name on its links: another one after each conflict, as avahi-daemon counts them.
package struct HostLabel: Sendable {
    private let label: [UInt8]
    private var number = 1

    package init(_ label: String) { self.label = Array(label.utf8) }

    package mutating func lost() { number += 1 }

    /// `tony.local`, `tony-2.local` …; nil for what is no label.
    package var name: DomainName? {
        let suffix = number > 1 ? Array("-\(number)".utf8) : []
        var text = label.prefix(DomainName.maximumLabelLength - suffix.count)
        // No character is cut in two.
        while !text.isEmpty, String(validating: text, as: UTF8.self) == nil { text = text.dropLast() }
        return try? DomainName(labels: [Array(text) + suffix, Array("local".utf8)])
    }
}

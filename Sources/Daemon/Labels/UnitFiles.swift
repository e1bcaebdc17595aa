internal import DiscoverySystem

/// The lines `X-Discoverd-KEY=VALUE` of a unit's files, in their order (systemd.unit(5): such lines are nobody else's). A value.
package struct UnitLabels: Sendable {
    static let prefix = "X-Discoverd-"

    /// As labels of a container; of what may be there once, the last line counts.
    package private(set) var labels: [(key: String, value: String)] = []

    package init() {}

    /// Reads a file after those before it, in lines as systemd does (systemd.syntax(7)). An empty value takes back what they said.
    package mutating func read(_ text: String) {
        var rest = ""
        let ends: [Character] = ["\n", "\r\n", "\r", "\0"]
        let text = text.drop { $0 == "\u{FEFF}" }
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: ends.contains) {
            // Within a line that goes on, too.
            if let first = line.trimmed.first, first == "#" || first == ";" { continue }
            let whole = rest + String(line)
            rest = ""
            // Two of them are one that is meant.
            guard whole.reversed().prefix(while: { $0 == "\\" }).count % 2 == 0 else {
                rest = String(whole.dropLast()) + " "
                continue
            }
            read(line: whole.trimmed)
        }
        read(line: rest.trimmed)
    }

    private mutating func read(line: Substring) {
        guard line.hasPrefix(Self.prefix), let equals = line.firstIndex(of: "=") else { return }
        take(
            line[..<equals].dropFirst(Self.prefix.count).trimmed.lowercased(),
            String(line[line.index(after: equals)...].trimmed))
    }

    private mutating func take(_ key: String, _ value: String) {
        // One more than a container may have, so that it is an error as there.
        guard labels.count <= Labelled.maximumLabels else { return }
        switch key {
        case "txt":
            guard !value.isEmpty else { return labels.removeAll { $0.key.hasPrefix("txt.") } }
            let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            labels.append(("txt.\(parts[0])", parts.count > 1 ? String(parts[1]) : ""))
        case "alias" where !value.isEmpty: labels.append((key, value))
        default:
            labels.removeAll { $0.key == key }
            if !value.isEmpty { labels.append((key, value)) }
        }
    }
}

/// Where systemd has the files of the system's units, the most important first (systemd.unit(5)).
package struct UnitFiles: Sendable {
    package static let directories = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ]
    private static let longest = 64 * 1024
    private static let maximumDropIns = 64

    private let directories: [String]

    package init(_ directories: [String] = Self.directories) { self.directories = directories }

    /// What a unit says of itself.
    package func subject(_ unit: String) -> Labelled {
        let name = unit.hasSuffix(".service") ? String(unit.dropLast(".service".count)) : unit
        var subject = Labelled(name: name)
        var labels = UnitLabels()
        for path in files(of: unit) {
            if let bytes = try? SystemFile.read(path, atMost: Self.longest) {
                labels.read(String(decoding: bytes, as: UTF8.self))
            }
        }
        subject.labels = labels.labels
        if labels.labels.count > Labelled.maximumLabels {
            subject.problem = "it has more than \(Labelled.maximumLabels) labels"
        }
        (subject.isUp, subject.isUnit) = (true, true)
        return subject
    }

    /// Its file, then its drop-ins in the order in which they count.
    func files(of unit: String) -> [String] {
        var names = [unit]
        if let at = unit.firstIndex(of: "@"), let dot = unit.lastIndex(of: "."), at < dot {
            names.append(String(unit[...at]) + String(unit[dot...]))
        }
        let candidates = names.flatMap { name in directories.map { "\($0)/\(name)" } }
        let main = candidates.first { (try? SystemFile.read($0, atMost: Self.longest)) != nil }
        var dropIns: [String: String] = [:]
        for directory in candidates {
            let files = try? SystemFile.names(in: "\(directory).d", atMost: Self.maximumDropIns) {
                $0.hasSuffix(".conf")
            }
            for file in files ?? [] where dropIns[file] == nil { dropIns[file] = "\(directory).d/\(file)" }
        }
        return (main.map { [$0] } ?? []) + dropIns.sorted { $0.key < $1.key }.map(\.value).prefix(Self.maximumDropIns)
    }
}

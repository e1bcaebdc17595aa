package import DNSMessage
internal import Records

/// Which operations each change concerns: by the name of a list, of the type that services belong to, or of a host.
package struct Followers: Sendable {
    package typealias Reader = ObjectIdentifier

    private var readers: [DomainName: [Reader]] = [:]

    package mutating func add(_ reader: Reader, to name: DomainName) { readers[name, default: []].append(reader) }

    package mutating func remove(_ reader: Reader, from name: DomainName) {
        guard var left = readers[name], let place = left.lastIndex(of: reader) else { return }
        left.remove(at: place)
        readers[name] = left.isEmpty ? nil : left
    }

    /// Returns who is concerned by changes, each once with all of theirs, in order.
    package func concerned(by changes: [RecordCache.Change]) -> [(reader: Reader, changes: [RecordCache.Change])] {
        var places: [Reader: Int] = [:]
        var concerned: [(reader: Reader, changes: [RecordCache.Change])] = []
        for change in changes {
            guard let readers = readers(of: change.key) else { continue }
            // Someone may follow a name twice, as a list and as a type.
            for (index, reader) in readers.enumerated() where !readers[..<index].contains(reader) {
                if let place = places[reader] {
                    concerned[place].changes.append(change)
                } else {
                    places[reader] = concerned.count
                    concerned.append((reader, [change]))
                }
            }
        }
        return concerned
    }

    private func readers(of key: RecordKey) -> [Reader]? {
        switch key.type {
        case .srv, .txt: key.name.parent.flatMap { readers[$0] }
        case .ptr:
            if let type = key.name.listedType {
                (readers[key.name] ?? []) + (readers[type] ?? [])
            } else {
                readers[key.name]
            }
        // What there is not of a service, or of a host.
        case .nsec: (readers[key.name] ?? []) + (key.name.parent.flatMap { readers[$0] } ?? [])
        default: readers[key.name]
        }
    }
}

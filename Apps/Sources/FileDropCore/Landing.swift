import Glibc

/// Decides where one sender's entries go: into folders that its transfers made, or into new ones.
public struct Landing: Sendable {
    let target: TargetFolder
    let received: Received

    /// Continues what was made of one sender's entries.
    public init(in target: TargetFolder, received: Received) {
        self.target = target
        self.received = received
    }

    /// Creates a folder and its parents, unless this sender's transfers made them already.
    public func makeFolder(_ entry: Entry) throws(FileFailure) { _ = try folder(entry.path.names, entry.origin) }

    /// The folder that a file goes into.
    public func place(of entry: Entry) throws(FileFailure) -> Place {
        try folder(entry.path.names.dropLast(), entry.origin)
    }

    private func folder(_ names: some Collection<[UInt8]>, _ origin: Origin) throws(FileFailure) -> Place {
        var place = target.place
        var path: [[UInt8]] = []
        for name in names {
            path.append(name)
            if let known = known(path, origin, in: place) {
                place = known
            } else {
                place = try make(path, name, origin, in: place)
            }
        }
        return place
    }

    private func known(_ path: [[UInt8]], _ origin: Origin, in parent: Place) -> Place? {
        guard case .folder(let name, let identity) = received.made(path, origin), let place = parent.open(name),
            FolderIdentity(place.descriptor) == identity
        else { return nil }
        return place
    }

    private func make(
        _ path: [[UInt8]], _ name: [UInt8], _ origin: Origin, in parent: Place
    ) throws(FileFailure) -> Place {
        let place = try parent.makeNew(name)
        guard let made = place.names.last, let identity = FolderIdentity(place.descriptor) else { return place }
        received.note(.folder(name: made, identity), for: path, origin)
        return place
    }

    /// The file that this sender's transfers made of an entry, if it still exists with the same size.
    public func existing(_ entry: Entry, in place: Place) -> ExistingFile? {
        guard case .file(let name, entry.size, let digest) = received.made(entry.path.names, entry.origin) else {
            return nil
        }
        return ExistingFile(place, name, size: entry.size, digest: digest)
    }

    /// Records that an entry has become a file.
    public func note(_ file: IncomingFile, for entry: Entry, digest: [UInt8]) {
        guard let name = file.finalName?.name else { return }
        received.note(.file(name: name, size: entry.size, digest: digest), for: entry.path.names, entry.origin)
    }
}

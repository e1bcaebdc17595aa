internal import DNSSD
internal import Glibc

/// Whether what listens at a socket may be believed: no one but root and this user can have put it there, or listens at it.
///
/// Otherwise whoever made the directory, as one that an environment variable names, would tell this user's commands what to
/// dial.
struct SocketTrust {
    /// What lstat(2) says of a path.
    struct Entry: Hashable {
        enum Kind { case directory, link, other }

        let kind: Kind
        let owner: UInt32
        /// The group or others may write.
        let isShared: Bool
        /// Of a directory: only its owner removes what he does not own (`/tmp`).
        let isSticky: Bool
    }

    let user: UInt32
    let look: (String) -> Entry?
    /// Without symbolic links.
    let resolve: (String) -> String?

    /// For this process.
    static var system: SocketTrust {
        SocketTrust(user: geteuid(), look: Entry.init(path:), resolve: realPath)
    }

    /// Whether the user at the other end is root or this one: no path has to be looked at then.
    func isTrusted(peer: UInt32) -> Bool { peer == 0 || peer == user }

    /// Whether the path is root's and this user's alone.
    ///
    /// It holds after `connect` too: nobody else could have put another socket there in between.
    func isTrusted(path: String) -> Bool {
        guard let slash = path.lastIndex(of: "/") else { return isTrusted(path: "./\(path)") }
        guard path.hasPrefix("/") else {
            // Where a process runs is its own choice, but who else writes there is not.
            guard let directory = resolve(String(path[..<slash])) else { return false }
            return isTrusted(path: directory + path[slash...])
        }
        guard let hasLinks = walk(path) else { return false }
        guard hasLinks else { return true }
        // A link that we trust leads on to where the same must hold.
        guard let directory = resolve(slash == path.startIndex ? "/" : String(path[..<slash])) else { return false }
        return walk(directory + path[slash...]) == false
    }

    /// - Returns: whether there are symbolic links on the way; nil when somebody else could have changed it.
    private func walk(_ path: String) -> Bool? {
        var (current, hasLinks) = ("", false)
        guard var directory = look("/"), isOwn(directory) else { return nil }
        let names = path.split(separator: "/")
        for (index, name) in names.enumerated() {
            current += "/\(name)"
            guard !directory.isShared || directory.isSticky, let entry = look(current) else { return nil }
            guard index + 1 < names.count else {
                // In a directory of ours it is ours, whoever owns it; in one as `/tmp` its owner may have put it there.
                guard entry.kind == .other, !directory.isShared || isOwn(entry) else { return nil }
                return hasLinks
            }
            guard entry.kind != .other, isOwn(entry) else { return nil }
            if entry.kind == .link {
                hasLinks = true
                // The directory that it leads to is looked at by its own path.
                directory = Entry(kind: .directory, owner: entry.owner, isShared: false, isSticky: false)
            } else {
                directory = entry
            }
        }
        return nil
    }

    private func isOwn(_ entry: Entry) -> Bool { entry.owner == 0 || entry.owner == user }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(validatingCString: resolved)
    }
}

extension SocketTrust.Entry {
    fileprivate init?(path: String) {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else { return nil }
        let kind = info.st_mode & S_IFMT
        self.kind = kind == S_IFDIR ? .directory : kind == S_IFLNK ? .link : .other
        owner = info.st_uid
        isShared = info.st_mode & 0o022 != 0
        isSticky = info.st_mode & S_ISVTX != 0
    }
}

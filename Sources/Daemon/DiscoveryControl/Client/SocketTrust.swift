internal import DiscoverySystem
internal import Libc

/// Decides whether to trust a socket: only root and this user can have created it, or one of them listens at it.
///
/// Otherwise the owner of its directory, which an environment variable may name, could tell this user's commands what
/// to dial.
struct SocketTrust {
    /// What lstat(2) says of a path.
    struct Entry: Hashable {
        enum Kind { case directory, link, other }

        let kind: Kind
        let owner: UInt32
        /// The group or others may write to it.
        let isShared: Bool
        /// A directory in which only the owner of an entry can remove it (`/tmp`).
        let isSticky: Bool
    }

    let user: UInt32
    let look: (String) -> Entry?
    /// Resolves symbolic links.
    let resolve: (String) -> String?

    /// For this process.
    static var system: SocketTrust {
        SocketTrust(user: geteuid(), look: Entry.init(path:), resolve: SystemFile.real)
    }

    /// Whether the peer is root or this user; then its path does not matter.
    func isTrusted(peer: UInt32) -> Bool { peer == 0 || peer == user }

    /// Whether only root and this user control the path.
    ///
    /// This still holds after `connect`: no other user could have replaced the socket in between.
    func isTrusted(path: String) -> Bool {
        // By bytes, as the system reads paths: to Swift a slash with a combining mark after it is another character.
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return isTrusted(path: "./\(path)") }
        guard path.utf8.first == UInt8(ascii: "/") else {
            // A process chooses its working directory, but not who else may write there.
            guard let directory = resolve(String(path[..<slash])) else { return false }
            return isTrusted(path: directory + path[slash...])
        }
        guard let hasLinks = walk(path) else { return false }
        guard hasLinks else { return true }
        // A trusted link leads to a path for which the same must hold.
        guard let directory = resolve(slash == path.startIndex ? "/" : String(path[..<slash])) else { return false }
        return walk(directory + path[slash...]) == false
    }

    /// - Returns: whether the path has symbolic links; nil if another user could have changed it.
    private func walk(_ path: String) -> Bool? {
        var (current, hasLinks) = ("", false)
        guard var directory = look("/"), isOwn(directory) else { return nil }
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init)
        for (index, name) in names.enumerated() {
            current += "/\(name)"
            guard !directory.isShared || directory.isSticky, let entry = look(current) else { return nil }
            guard index + 1 < names.count else {
                // In a private directory any entry is trusted; in one like `/tmp`, its owner may have placed it there.
                guard entry.kind == .other, !directory.isShared || isOwn(entry) else { return nil }
                return hasLinks
            }
            guard entry.kind != .other, isOwn(entry) else { return nil }
            if entry.kind == .link {
                hasLinks = true
                // Its target is checked by its own path.
                directory = Entry(kind: .directory, owner: entry.owner, isShared: false, isSticky: false)
            } else {
                directory = entry
            }
        }
        return nil
    }

    private func isOwn(_ entry: Entry) -> Bool { entry.owner == 0 || entry.owner == user }
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

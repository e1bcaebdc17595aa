import Glibc

/// Where a program stores what must outlive it: `$XDG_STATE_HOME/filedrop`, or `~/.local/state/filedrop`.
public struct StateFolder: Sendable {
    /// Why there is no such folder.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        public let description: String
        /// A newer version has written it: nothing may be read or written there.
        public var isNewer = false
    }

    /// The format of the files in the folder, and the newest that is read (docs/decisions/0059-formats-have-a-version.md of discoverd).
    private static let format = 1
    private static let formatName = "format"

    let descriptor: Descriptor

    /// Opens the user's folder, and creates it if needed.
    public init() throws(Failure) {
        let home = Self.variable("HOME") ?? Self.homeOfUser
        guard let base = Self.variable("XDG_STATE_HOME") ?? home.map({ $0 + "/.local/state" }) else {
            throw Failure(description: "there is no home directory")
        }
        try self.init(base + "/filedrop")
    }

    /// Opens a folder, and creates it and its parents if needed.
    public init(_ path: String) throws(Failure) {
        var made = ""
        for name in path.split(separator: "/") {
            made += "/" + name
            if mkdir(made, 0o700) != 0, errno != EEXIST, errno != EROFS, errno != EACCES { break }
        }
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
        descriptor = Descriptor(number)
        guard let status = descriptor.status, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw Failure(description: "\(path) belongs to another user, or can be written by one")
        }
        guard faccessat(number, Self.formatName, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT else { return }
        // What is no number, or cannot be read, is of no version that is known.
        let text = read(Self.formatName, atMost: 32).map {
            String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace }
        }
        guard let format = text.flatMap({ Int($0) }), 1...Self.format ~= format else {
            throw Failure(
                description:
                    "\(path) has a format that is not known, as of a newer filedrop; this one knows \(Self.format)",
                isNewer: true)
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
        return value
    }

    private static var homeOfUser: String? {
        var (entry, result) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: 16 * 1024)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &result) == 0, result != nil else { return nil }
        return entry.pw_dir.map { String(cString: $0) }
    }

    /// The content of a regular file of this user, up to `limit` bytes; nil if there is none.
    func read(_ name: String, atMost limit: Int) -> [UInt8]? {
        let number = openat(descriptor.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        guard let status = file.status, status.isFile, status.st_uid == geteuid() else { return nil }
        var content: [UInt8] = []
        while content.count < limit, let bytes = file.read(min(1 << 20, limit - content.count)), !bytes.isEmpty {
            content += bytes
        }
        return content
    }

    /// Says the format, before the first file is made; without a word where it fails: then no other can be made either.
    func begin() { _ = place(Array("\(Self.format)\n".utf8), at: Self.formatName, isNew: true) }

    /// Writes a file atomically; replaces an existing one unless `isNew`.
    /// - Returns: whether the file was written.
    func write(_ content: [UInt8], to name: String, isNew: Bool = false) -> Bool {
        begin()
        return place(content, at: name, isNew: isNew)
    }

    private func place(_ content: [UInt8], at name: String, isNew: Bool) -> Bool {
        let temporary = ".\(name).\(String(UInt64.random(in: .min ... .max), radix: 36)).new"
        let number = openat(descriptor.number, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { return false }
        let file = Descriptor(number)
        guard file.write(content[...]) == nil, fsync(number) == 0,
            isNew
                ? linkat(descriptor.number, temporary, descriptor.number, name, 0) == 0
                : renameat(descriptor.number, temporary, descriptor.number, name) == 0
        else {
            unlinkat(descriptor.number, temporary, 0)
            return false
        }
        if isNew { unlinkat(descriptor.number, temporary, 0) }
        return true
    }
}

public import CommandFrame
import DNSSD
import Glibc

/// The files and folders to send; each folder comes before its contents.
public struct SourceTree: Sendable {
    /// A file or folder.
    public struct Item: Hashable, Sendable {
        /// Its local path.
        public let path: String
        /// Its description for the other side.
        public let entry: Entry
    }

    /// The maximum number of items.
    public static let maximumItems = 100_000

    /// In sending order.
    public private(set) var items: [Item] = []
    /// What was left out and why, for people: symbolic links, devices, names that a receiver would refuse.
    public private(set) var leftOut: [String] = []
    /// How many more were left out.
    public private(set) var furtherLeftOut = 0
    private let key: OriginKey

    /// The total size of all files.
    public var bytes: Int64 { items.reduce(0) { $0 + $1.entry.size } }

    /// The file, if only one file is sent.
    public var onlyFile: Item? {
        guard items.count == 1, let item = items.first, item.entry.kind == .file else { return nil }
        return item
    }

    /// Examines files, and folders with their contents. Follows links given as `paths`; leaves out all others.
    /// - Parameter key: gives each of `paths` the origin by which a receiver recognises it.
    public init(_ paths: [String], key: OriginKey = OriginKey()) throws(CommandError) {
        self.key = key
        for path in paths {
            var status = stat()
            guard stat(path, &status) == 0 else { throw CommandError(.noInput, "cannot read \(path)", errno: errno) }
            var path = path
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            var name = path.split(separator: "/").last ?? ""
            if name == "." || name == ".." || name.isEmpty { name = Self.realName(path)[...] }
            guard let relative = allowed(Array(name.utf8), path) else { continue }
            try add(path, relative, status, key.origin(of: Self.realPath(path)), isNamed: true)
        }
        if items.isEmpty { throw CommandError(.usage, "nothing is left to send", advice: leftOut) }
    }

    /// The path to send; nil if it is left out.
    private mutating func allowed(_ bytes: [UInt8], _ path: String) -> RelativePath? {
        do throws(RelativePath.Problem) {
            return try RelativePath(checking: bytes)
        } catch {
            leaveOut(path, error.rawValue)
            return nil
        }
    }

    private static func realPath(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func realName(_ path: String) -> String {
        realPath(path).split(separator: "/").last.map(String.init) ?? ""
    }

    private mutating func add(
        _ path: String, _ relative: RelativePath, _ status: stat, _ origin: Origin, isNamed: Bool
    ) throws(CommandError) {
        guard status.isFile || status.isFolder else {
            if isNamed { throw CommandError(.noInput, "\(path) is neither a file nor a folder") }
            return leaveOut(path, "is neither a file nor a folder")
        }
        guard items.count < Self.maximumItems else {
            throw CommandError(.usage, "there are more than \(Self.maximumItems) files: send an archive")
        }
        let entry = Entry(
            path: relative, kind: status.isFolder ? .folder : .file, size: status.isFolder ? 0 : Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec), isExecutable: status.st_mode & S_IXUSR != 0,
            origin: origin)
        items.append(Item(path: path, entry: entry))
        guard status.isFolder else { return }
        let (names, unreadable) = try Self.names(in: path)
        if unreadable > 0 { leaveOut(path, "has \(unreadable) names that are no UTF-8") }
        for name in names {
            let inner = path + "/" + name
            var status = stat()
            guard lstat(inner, &status) == 0 else {
                leaveOut(inner, systemMessage(errno))
                continue
            }
            guard let below = allowed(relative.bytes + [0x2F] + Array(name.utf8), inner) else { continue }
            try add(inner, below, status, origin, isNamed: false)
        }
    }

    private mutating func leaveOut(_ path: String, _ why: String) {
        guard leftOut.count < 20 else { return furtherLeftOut += 1 }
        // A single line, whatever the name contains.
        leftOut.append("\(path.escapedForTerminal) \(why): left out")
    }

    private static func names(in path: String) throws(CommandError) -> (names: [String], unreadable: Int) {
        guard let folder = opendir(path) else { throw CommandError(.noInput, "cannot read \(path)", errno: errno) }
        defer { closedir(folder) }
        var (names, unreadable): ([String], Int) = ([], 0)
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            // A String cannot open a file whose name is not UTF-8; people do not type such names.
            let text = String(validating: name, as: UTF8.self)
            if text == nil { unreadable += 1 }
            if let text, text != ".", text != ".." { names.append(text) }
        }
        return (names.sorted(), unreadable)
    }
}

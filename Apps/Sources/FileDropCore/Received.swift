import Crypto
import Glibc
import Synchronization

/// Records what one sender's transfers have made in a folder, and is stored outside it. Only what it lists is entered or compared again.
public final class Received: Sendable {
    /// What an entry became.
    enum Made: Hashable, Sendable {
        case folder(name: [UInt8], FolderIdentity)
        case file(name: [UInt8], size: Int64, digest: [UInt8])
    }

    private struct Key: Hashable {
        let origin: Origin
        let path: [UInt8]
    }

    private struct State {
        var made: [Key: Made] = [:]
        var length = 0
        var file: Descriptor?
    }

    /// The maximum size of one sender's record. Entries beyond it are not recognised, and get a new name.
    static let maximumLength = 16 << 20
    /// The maximum size of all records; the oldest go first.
    static let maximumTotal = 64 << 20

    private let state = Mutex(State())
    /// Where the record is stored; nil if it is not.
    private let place: (folder: StateFolder, name: String)?

    /// The record of a sender that cannot be recognised again.
    public init() { place = nil }

    /// - Parameter sender: the fingerprint of its key, which it has proved to own.
    /// - Throws: if the record cannot be read.
    public init(of sender: [UInt8], in target: TargetFolder, state folder: StateFolder) throws(StateFolder.Failure) {
        var checksum = Checksum()
        checksum.update(sender + target.identity.utf8)
        let name = Checksum.text(checksum.digest) + Self.suffix
        place = (folder, name)
        guard let file = try Self.open(name, in: folder, 0) else { return }
        // A record's age counts from its last use.
        futimens(file.number, nil)
        var content: [UInt8] = []
        while content.count < Self.maximumLength, let bytes = file.read(1 << 20), !bytes.isEmpty { content += bytes }
        state.withLock { state in
            state.file = file
            state.length = content.count
            for line in content.split(separator: 0x0A) {
                if let (key, made) = Self.read(line) { state.made[key] = made }
            }
        }
    }

    /// - Returns: nil if there is no record.
    private static func open(
        _ name: String, in folder: StateFolder, _ flags: Int32
    ) throws(StateFolder.Failure) -> Descriptor? {
        let flags = flags | O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let number = openat(folder.descriptor.number, name, flags, 0o600)
        if number < 0, errno == ENOENT { return nil }
        guard number >= 0 else { throw StateFolder.Failure(description: String(cString: strerror(errno))) }
        let file = Descriptor(number)
        guard let status = file.status, status.isFile, status.st_uid == geteuid() else {
            throw StateFolder.Failure(description: "a file of the record belongs to another user")
        }
        return file
    }

    func made(_ path: some Sequence<[UInt8]>, _ origin: Origin) -> Made? {
        let key = Key(origin: origin, path: Array(path.joined(separator: [0x2F])))
        return state.withLock { $0.made[key] }
    }

    func note(_ made: Made, for path: some Sequence<[UInt8]>, _ origin: Origin) {
        let key = Key(origin: origin, path: Array(path.joined(separator: [0x2F])))
        let line = Self.line(key, made)
        state.withLock { state in
            guard state.length + line.count <= Self.maximumLength else { return }
            state.length += line.count
            state.made[key] = made
            // Created only once something has arrived: just connecting leaves nothing behind.
            if state.file == nil, let place {
                place.folder.begin()
                Self.makeRoom(in: place.folder, besides: place.name)
                state.file = try? Self.open(place.name, in: place.folder, O_CREAT)
            }
            // A single write, so that the lines of two processes do not mix. If it fails, the line is known only until this process ends.
            if let file = state.file { _ = file.write(line[...]) }
        }
    }

    // MARK: Lines

    private static let suffix = ".received"

    /// Names contain no control characters (`RelativePath`), so tabs and line feeds can separate them.
    private static func line(_ key: Key, _ made: Made) -> [UInt8] {
        let fields: [[UInt8]] =
            switch made {
            case .folder(let name, let identity):
                [Array("folder".utf8), name, Array("\(identity.inode)".utf8), Array("\(identity.birth)".utf8)]
            case .file(let name, let size, let digest):
                [Array("file".utf8), name, Array("\(size)".utf8), Array(Checksum.text(digest).utf8)]
            }
        let all = [Array(Checksum.text(key.origin.bytes).utf8), key.path] + fields
        return Array(all.joined(separator: [0x09])) + [0x0A]
    }

    /// Nil for a line that was cut off or tampered with.
    private static func read(_ line: some Sequence<UInt8>) -> (Key, Made)? {
        let fields = Array(line).split(separator: 0x09).map { Array($0) }
        guard fields.count == 6, let origin = hexadecimal(fields[0]).flatMap({ Origin($0) }),
            let path = RelativePath(fields[1]), let name = RelativePath(fields[3]), name.names.count == 1
        else { return nil }
        let key = Key(origin: origin, path: path.bytes)
        switch (fields[2], text(fields[4]), text(fields[5])) {
        case (Array("folder".utf8), let inode, let birth):
            guard let inode = UInt64(inode), let birth = Int64(birth) else { return nil }
            return (key, .folder(name: name.name, FolderIdentity(inode: inode, birth: birth)))
        case (Array("file".utf8), let size, _):
            guard let size = Int64(size), let digest = hexadecimal(fields[5]), digest.count == 32 else { return nil }
            return (key, .file(name: name.name, size: size, digest: digest))
        default: return nil
        }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func hexadecimal(_ text: [UInt8]) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let byte = UInt8(self.text(Array(text[index...index + 1])), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// Removes the oldest records if all together are too large.
    private static func makeRoom(in folder: StateFolder, besides kept: String) {
        var records: [(name: String, size: Int, used: Int)] = []
        folder.descriptor.forEachName { name in
            let name = text(name)
            var status = stat()
            guard name.hasSuffix(suffix), name != kept,
                fstatat(folder.descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.isFile
            else { return true }
            // An empty record has a cost too.
            records.append((name, Int(status.st_size) + 4096, status.st_mtim.tv_sec))
            return true
        }
        var rest = maximumTotal - maximumLength
        for record in records.sorted(by: { $0.used > $1.used }) {
            rest -= record.size
            if rest < 0 { unlinkat(folder.descriptor.number, record.name, 0) }
        }
    }
}

/// The records of all connected senders; two connections of one sender share a record.
public final class ReceivedRecords: Sendable {
    private struct Weak {
        weak var record: Received?
    }
    private let target: TargetFolder
    private let state: StateFolder
    private let records = Mutex<[[UInt8]: Weak]>([:])

    /// Creates the records for one folder.
    public init(for target: TargetFolder, in state: StateFolder) {
        self.target = target
        self.state = state
    }

    /// The record of a sender.
    /// - Parameter key: the fingerprint of its key, which it has proved to own.
    public func record(of key: [UInt8]) throws(StateFolder.Failure) -> Received {
        try records.withLock { records throws(StateFolder.Failure) in
            if let record = records[key]?.record { return record }
            records = records.filter { $0.value.record != nil }
            let record = try Received(of: key, in: target, state: state)
            records[key] = Weak(record: record)
            return record
        }
    }
}

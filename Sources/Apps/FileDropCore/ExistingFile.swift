import Glibc

/// A file that is in its place already: it need not come again when it is the same.
public enum ExistingFile {
    /// The SHA-256 of the file of that name, if its size is the entry's; nil when there is none, or it is no ordinary file.
    public static func digest(of entry: Entry, in target: TargetFolder) throws(FileFailure) -> [UInt8]? {
        let folder = try target.parent(of: entry.path)
        let number = entry.path.name.withCString {
            openat(folder.number, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        }
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        guard let status = file.status, status.isFile, status.st_size == entry.size else { return nil }
        var checksum = Checksum()
        while let bytes = file.read(1 << 20) {
            if bytes.isEmpty { return checksum.digest }
            checksum.update(bytes)
        }
        return nil
    }
}

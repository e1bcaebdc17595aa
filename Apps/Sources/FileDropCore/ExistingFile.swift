import Glibc

/// A file from this sender's earlier transfers, which need not be sent again if it is unchanged.
///
/// The sender names its checksum first, and only a file that this sender itself sent is examined, so it cannot guess the content of other
/// files.
public final class ExistingFile: Sendable {
    /// The file's path.
    public let path: RelativePath
    private let file: Descriptor
    private let digest: [UInt8]

    /// Nil if there is no such file, it is not a regular one, or its size differs.
    init?(_ place: Place, _ name: [UInt8], size: Int64, digest: [UInt8]) {
        let number = name.withCString {
            openat(place.descriptor.number, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        }
        guard number >= 0 else { return nil }
        file = Descriptor(number)
        guard let status = file.status, status.isFile, status.st_size == size else { return nil }
        path = place.path(name)
        self.digest = digest
    }

    /// Whether the content is still what was sent then, and equals what is offered now.
    /// - Parameter isWanted: asked after each MiB; returning false ends the comparison.
    public func isSame(as offered: [UInt8], while isWanted: () -> Bool) -> Bool {
        guard offered == digest else { return false }
        var checksum = Checksum()
        while isWanted(), let bytes = file.read(1 << 20) {
            if bytes.isEmpty { return checksum.digest == digest }
            checksum.update(bytes)
        }
        return false
    }
}

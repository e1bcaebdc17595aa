import Glibc

/// A file that this sender's transfers made: it need not come again when it is the same.
///
/// The sender names its checksum first, and only one that it sent itself is looked at: nothing of what others have put
/// here can be guessed.
public final class ExistingFile: Sendable {
    /// Where it is.
    public let path: RelativePath
    private let file: Descriptor
    private let digest: [UInt8]

    /// Nil when there is none, no ordinary one, or one of another size.
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

    /// Whether its content is what was sent then and what is offered now.
    /// - Parameter isWanted: asked after each MiB; the work ends when it says no.
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

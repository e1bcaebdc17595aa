import Glibc
import System

/// The id under which this process publishes. It is kept for the next process, so that after a crash the same
/// registration has the same owner.
///
/// Each id is in a file that is locked while its process lives, so that two processes never share an id.
package final class PublisherIdentity: Sendable {
    /// The id.
    package let id: PublisherID
    /// Whether an earlier process used the id.
    package let isKnown: Bool
    /// Why the id cannot be kept, as the end of a sentence; nil if it is kept.
    package let reason: String?
    private let lock: Int32

    /// The most processes of a user that can publish at once and keep their ids.
    private static let most = 256

    /// Takes the first id in a directory that no process uses, or creates one.
    /// - Parameter directory: created if it does not exist; nil if there is no place to keep the id.
    package init(directory: String?) {
        let (id, isKnown, lock, reason) = Self.take(directory)
        (self.id, self.isKnown, self.lock, self.reason) = (id, isKnown, lock, reason)
    }

    deinit { if lock >= 0 { close(lock) } }

    /// The directory for state: systemd's, or else root's or the user's own; nil if the environment names none.
    package static var standardDirectory: String? {
        if let directory = Environment.directory("STATE_DIRECTORY") { return directory }
        if geteuid() == 0 { return "/var/lib/discoverd" }
        if let state = Environment.value("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/discoverd" }
        if let home = Environment.value("HOME"), home.hasPrefix("/") { return "\(home)/.local/state/discoverd" }
        return nil
    }

    private static func take(_ directory: String?) -> (PublisherID, Bool, Int32, String?) {
        guard let directory else {
            return (PublisherID(), false, -1, "there is no $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        make(directory)
        for number in 0..<most {
            let path = "\(directory)/publisher-\(number)"
            let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            // The file belongs to another user, such as root after publishing by a command: the next one is as good.
            if file < 0, errno == EACCES || errno == ELOOP { continue }
            guard file >= 0 else { return (PublisherID(), false, -1, SystemError(errno, path).description) }
            // Another process holds the lock: the next file is as good.
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                close(file)
                continue
            }
            var bytes = [UInt8](repeating: 0, count: 33)
            let count = unsafe pread(file, &bytes, bytes.count, 0)
            if count >= 32, let id = PublisherID(bytes.prefix(32)) { return (id, true, file, nil) }
            let id = PublisherID()
            let text = Array((id.text + "\n").utf8)
            guard ftruncate(file, 0) == 0, unsafe pwrite(file, text, text.count, 0) == text.count, fsync(file) == 0
            else {
                let problem = SystemError(errno, path).description
                close(file)
                return (PublisherID(), false, -1, problem)
            }
            return (id, false, file, nil)
        }
        return (PublisherID(), false, -1, "\(most) processes have all ids in \(directory)")
    }

    /// Creates a directory and its parents, for their owner only (XDG Base Directory Specification).
    private static func make(_ path: String) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/\(part)"
            _ = unsafe mkdir(made, 0o700)
        }
    }
}

import DiscoverySystem
import Libc

/// Reads /etc/resolv.conf, again whenever it has changed. May be used from any thread.
package final class ResolverFile: Sendable {
    /// The file's metadata, which shows whether it has changed.
    private struct Version: Hashable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    private struct State: Sendable {
        var version: Version?
        var settings = ResolverSettings(parsing: "")
    }

    private let path: String
    private let state = Locked(State())

    /// Creates a reader of this machine's file, or of another one.
    package init(path: String = "/etc/resolv.conf") { self.path = path }

    /// The current settings. An empty or missing file names this machine as the server.
    package var settings: ResolverSettings {
        let version = version
        return state.withLock { state in
            if version == nil || version != state.version {
                let text = (try? SystemFile.read(path, atMost: 64 << 10)).map { String(decoding: $0, as: UTF8.self) }
                state.settings = ResolverSettings(parsing: text ?? "") { name in
                    if let number = UInt32(name) { return number }
                    return unsafe if_nametoindex(name)
                }
                state.version = version
            }
            return state.settings
        }
    }

    private var version: Version? {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return nil }
        return Version(
            device: UInt64(info.st_dev), inode: UInt64(info.st_ino), size: Int64(info.st_size),
            seconds: info.st_mtim.tv_sec, nanoseconds: info.st_mtim.tv_nsec)
    }
}

import Glibc

/// An open file, closed with the last reference. Its position in the file is shared by all who use it.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// Calls until it is not interrupted.
    static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    func write(_ bytes: ArraySlice<UInt8>) -> Int32? {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                Self.retrying { Glibc.write(number, buffer.baseAddress, buffer.count) }
            }
            guard count > 0 else { return count == 0 ? EIO : errno }
            rest = rest.dropFirst(count)
        }
        return nil
    }

    /// - Returns: the bytes, none at the end; nil with `errno` when it failed.
    func read(_ limit: Int) -> [UInt8]? {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = Self.retrying { Glibc.read(number, buffer.baseAddress, limit) }
            failed = result < 0
            count = max(0, result)
        }
        return failed ? nil : bytes
    }

    /// The names in a folder, but for `.` and `..`, until `body` says no.
    func forEachName(_ body: ([UInt8]) -> Bool) {
        // The stream owns the descriptor that it is given.
        let copy = openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name != [0x2E], name != [0x2E, 0x2E], !body(name) { return }
        }
    }

    var status: stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }
}

extension stat {
    var isFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}

import Glibc

/// An open file, closed with its last reference. All users share its position.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// Repeats the call until it is not interrupted.
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

    /// - Returns: the bytes, empty at the end of the file; nil and `errno` on failure.
    func read(_ limit: Int) -> [UInt8]? {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = Self.retrying { Glibc.read(number, buffer.baseAddress, limit) }
            failed = result < 0
            count = max(0, result)
        }
        return failed ? nil : bytes
    }

    /// Calls `body` with each name in a folder except `.` and `..`, until it returns false.
    func forEachName(_ body: ([UInt8]) -> Bool) {
        // The stream takes ownership of its descriptor.
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

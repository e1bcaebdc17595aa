internal import DNSSD
internal import Glibc

/// Reads configuration files. Blocks, but never on a pipe, and never for more than the largest size.
enum ConfigurationFiles {
    /// The most drop-ins.
    static let maximumDropIns = 256

    /// The bytes of a file; nil when it is not there.
    static func read(_ path: String, atMost limit: Int) throws(ConfigurationError) -> [UInt8]? {
        // Without O_NONBLOCK opening a named pipe waits for a writer.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw fault(path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw fault(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ConfigurationError(file: path, line: nil, reason: "not a regular file")
        }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            if got == -1, errno == EINTR { continue }
            guard got >= 0 else { throw fault(path) }
            if got == 0 { break }
            count += got
        }
        return Array(bytes.prefix(count))
    }

    /// The paths of the `*.yaml` files in a directory, by name, hidden ones left out; none when it is not there.
    static func dropIns(in directory: String) throws(ConfigurationError) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            if errno == ENOENT { return [] }
            throw fault(directory)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasSuffix(".yaml"), !name.hasPrefix(".") else { continue }
            names.append(name)
            guard names.count <= maximumDropIns else {
                throw ConfigurationError(file: directory, line: nil, reason: "more than \(maximumDropIns) files")
            }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "\(directory)/\($0)" }
    }

    private static func fault(_ path: String) -> ConfigurationError {
        let reason = unsafe String(cString: strerror(errno))
        return ConfigurationError(file: path, line: nil, reason: "cannot be read: \(reason)")
    }
}

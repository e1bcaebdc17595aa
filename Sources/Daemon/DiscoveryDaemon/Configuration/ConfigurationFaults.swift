/// Collects errors while a configuration is read, so that one run reports them all. For use by one thread.
final class ConfigurationFaults {
    /// More than anyone fixes in one go.
    static let limit = 100

    private(set) var all: [ConfigurationError] = []
    /// What is valid, and hardly meant: lines, safe for a terminal.
    private(set) var doubts: [String] = []

    func doubt(_ line: String) { if doubts.count < Self.limit { doubts.append(line) } }

    func note(_ error: ConfigurationError) {
        if all.count < Self.limit, !all.contains(error) { all.append(error) }
    }

    /// The result of `body`; nil if it fails, which is recorded.
    @discardableResult
    func reading<Result>(_ body: () throws(ConfigurationError) -> Result) -> Result? {
        do { return try body() } catch {
            note(error)
            return nil
        }
    }

    /// - Throws: all errors as one, ordered by file and line.
    func check() throws(ConfigurationError) {
        var files: [String] = []
        for error in all where !files.contains(error.file) { files.append(error.file) }
        let sorted = files.flatMap { file in
            all.filter { $0.file == file }.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
        }
        guard var first = sorted.first else { return }
        first.others = Array(sorted.dropFirst())
        throw first
    }
}

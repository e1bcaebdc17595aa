/// What was found wrong while a configuration is read: reading goes on, so that one run tells all. Used by one thread.
final class ConfigurationFaults {
    /// No person mends more at a time.
    static let limit = 100

    private(set) var all: [ConfigurationError] = []

    func note(_ error: ConfigurationError) {
        if all.count < Self.limit, !all.contains(error) { all.append(error) }
    }

    /// What `body` reads; nil when that is wrong.
    @discardableResult
    func reading<Result>(_ body: () throws(ConfigurationError) -> Result) -> Result? {
        do { return try body() } catch {
            note(error)
            return nil
        }
    }

    /// - Throws: all as one error, in order of files and lines.
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

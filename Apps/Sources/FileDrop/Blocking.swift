import NIOPosix

/// Runs blocking disk work on a thread where it delays no one else.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await NIOThreadPool.singleton.runIfActive(body)
}

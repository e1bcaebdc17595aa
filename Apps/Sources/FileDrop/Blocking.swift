import NIOPosix

/// Runs what waits for a disk where waiting holds up nobody.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await NIOThreadPool.singleton.runIfActive(body)
}

#if Commands
internal import CommandFrame

/// Handles connections concurrently until told to stop, then gives them time to end.
enum Serving {
    /// How long connections may continue after the command was told to end.
    static let patience = Duration.seconds(4)

    /// Returns when the acceptor has ended and every connection is handled.
    /// - Parameter handle: handles one connection; its task is cancelled when `patience` runs out. The first error ends everything.
    static func run(
        _ acceptor: Acceptor,
        _ handle: @escaping @Sendable (Socket) async throws -> Void
    ) async throws {
        let connections = try acceptor.connections()
        // Unstructured: the connections must outlive the cancellation of the command's task.
        let serving = Task {
            try await withThrowingDiscardingTaskGroup { group in
                for await socket in connections {
                    group.addTask {
                        defer { acceptor.release() }
                        try await handle(socket)
                    }
                }
            }
        }
        try await withTaskCancellationHandler {
            defer { acceptor.end() }
            try await serving.value
        } onCancel: {
            acceptor.end()
            Task {
                try? await Task.sleep(for: patience)
                serving.cancel()
            }
        }
    }
}
#endif

#if Commands
internal import CommandFrame

/// Handles connections beside each other until asked to stop, and then lets them end in peace for a while.
enum Serving {
    /// How long connections may go on once the command is to end.
    static let patience = Duration.seconds(4)

    /// Returns when the acceptor has ended and every connection is handled.
    /// - Parameter handle: its task is cancelled when patience is at an end. The first error ends everything.
    static func run(
        _ acceptor: Acceptor,
        _ handle: @escaping @Sendable (Socket) async throws -> Void
    ) async throws {
        let connections = try acceptor.connections()
        // Unstructured, because the connections must outlive the cancelling of the command's task.
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

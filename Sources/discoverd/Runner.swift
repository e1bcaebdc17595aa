internal import ArgumentParser
internal import AvahiEngine
internal import DNSSD
internal import Discovery

/// Runs a command with everything around it: signals, the backend, what its errors mean.
enum Runner {
    static func run(_ command: sending any NetworkCommand, outputIsOpen: Bool) async -> ExitStatus {
        let notices = command.common.notices
        let stop = Stop()
        let kind = type(of: command)
        let watcher = Watcher(
            stop: stop,
            watchesOutput: kind.endsWhenUnread,
            grace: kind.grace,
            statusWhenStopped: kind.statusWhenStopped
        )
        do {
            guard outputIsOpen || !kind.endsWhenUnread else { return .done }
            try watcher.start()
            let task = Task { try await execute(command, stop: stop, watcher: watcher) }
            stop.onRequest { task.cancel() }
            return try await task.value
        } catch is Output.Unread {
            return .done
        } catch {
            if let cause = stop.cause, let status = status(for: cause, of: kind) { return status }
            let failure = (error as? CommandError) ?? (error as? DiscoveryError).map { CommandError($0) }
            notices.failure(failure ?? CommandError(.systemError, String(describing: error)))
            return failure?.status ?? .systemError
        }
    }

    private static func execute(
        _ command: any NetworkCommand,
        stop: Stop,
        watcher: Watcher
    ) async throws -> ExitStatus {
        if command.common.backend == .private {
            throw CommandError(
                .noBackend,
                "--backend private does not exist yet",
                advice: ["Use --backend system, or leave it out."]
            )
        }
        let session = Session(
            network: LocalNetwork(engine: AvahiEngine()),
            notices: command.common.notices,
            stop: stop,
            watcher: watcher,
            json: command.common.json
        )
        let status = try await command.execute(in: session)
        // What is left is freed by the backend when the process ends: nothing here is worth waiting for.
        do { try session.output.flush() } catch is Output.Unread { return .done }
        return status
    }

    /// What an error means that came from being stopped; nil when it is an error of its own.
    private static func status(for cause: Stop.Cause, of kind: any NetworkCommand.Type) -> ExitStatus? {
        switch cause {
        case .signal: kind.statusWhenStopped
        case .unread: .done
        case .programEnded(let status): status
        case .timedOut, .noBackend: nil
        }
    }
}

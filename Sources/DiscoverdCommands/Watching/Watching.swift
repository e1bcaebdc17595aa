#if Commands
internal import CommandFrame
internal import CommandText
internal import DiscoveryControl

/// Shows what the daemon says, again whenever it changed: on a screen, or as lines that came and went.
struct Watching<Seen> {
    /// The daemon has no stream of all that is shown; a look costs it less than a millisecond.
    private var pause: Duration { .seconds(1) }

    let session: Session
    let title: String
    /// Asks the daemon.
    let look: () async throws -> Seen
    /// What a screen of these columns shows of it, safe for a terminal.
    let lines: (Seen) -> [String]
    /// Prints what changed.
    let tell: (Seen) throws -> Void

    /// Runs until a person leaves, or the command is to end.
    /// - Throws: what the first look throws; later ones are tried again.
    func run() async throws -> ExitStatus {
        let seen = try await look()
        let terminal = session.terminal
        let ability = Renderer.Ability(hasColour: terminal.hasColour, hasUnicode: terminal.isUTF8)
        if !session.json, terminal.movesCursor, let screen = Screen(.screen, ability) {
            await show(seen, on: screen)
        } else {
            try await print(seen)
        }
        return .done
    }

    private func show(_ first: Seen, on screen: Screen) async {
        defer { screen.close() }
        let stop = session.stop
        let view = WatchView(screen, title: title, stop)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await view.followKeys()
                stop.request(.unread)
            }
            await view.show(lines(first))
            while await isTimeToLook() {
                do {
                    await view.show(lines(try await look()))
                } catch {
                    await view.show(message: Self.text(error))
                }
            }
            group.cancelAll()
        }
    }

    private func print(_ first: Seen) async throws {
        try tell(first)
        try session.output.flush()
        var isAway = false
        while await isTimeToLook() {
            do {
                let seen = try await look()
                if isAway { session.notices.notice("the daemon answers again") }
                isAway = false
                try tell(seen)
                try session.output.flush()
            } catch let error where error is ControlError || error is CommandError {
                guard !session.stop.isRequested else { return }
                if !isAway { session.notices.notice(Self.text(error)) }
                isAway = true
            }
        }
    }

    /// - Returns: false once the command is to end.
    private func isTimeToLook() async -> Bool {
        (try? await Task.sleep(for: pause)) != nil && !session.stop.isRequested
    }

    private static func text(_ error: any Error) -> String {
        let error = (error as? CommandError) ?? (error as? ControlError).map { CommandError($0) }
        return "the daemon does not answer; what was seen last is shown\(error.map { ": \($0.message)" } ?? "")"
    }
}
#endif

import AppSupport
import CommandFrame
import FileDropCore

extension SenderKey {
    /// The user's key, or a temporary one if none can be stored.
    static func ofUser(_ app: App) -> SenderKey {
        do throws(StateFolder.Failure) {
            return try SenderKey(in: try StateFolder())
        } catch {
            app.notices.notice("a receiver will not know this sender again (\(error))")
            return SenderKey()
        }
    }
}

extension SourceTree {
    /// Collects what to send, and reports what is left out.
    static func look(at paths: [String], _ key: SenderKey, _ app: App) async throws -> SourceTree {
        let tree = try await blocking { try SourceTree(paths, key: key) }
        for text in tree.leftOut { app.notices.notice(text) }
        if tree.furtherLeftOut > 0 { app.notices.notice("\(tree.furtherLeftOut) more were left out") }
        return tree
    }
}

extension App {
    /// Runs a transfer that can be resumed, and says so if Ctrl-C ends it.
    func resumable(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            if stop.isRequested { notices.notice("stopped; run it again to go on") }
            throw error
        }
    }
}

import AppSupport
import CommandFrame
import FileDropCore

/// A folder that receives files, and the memory of earlier senders.
struct Inbox: Sendable {
    let target: TargetFolder
    let parts: KeptParts
    /// Whether received files may be executable.
    let takesPrograms: Bool
    /// Nil if nothing can be remembered.
    private let records: ReceivedRecords?

    /// Opens a folder, and removes unfinished files that are too old.
    init(_ path: String, takesPrograms: Bool, _ app: App) throws {
        target = try TargetFolder(path)
        self.takesPrograms = takesPrograms
        let (parts, removed) = KeptParts.find(in: target)
        self.parts = parts
        if removed > 0 { app.notices.notice("removed \(removed) unfinished files that are old, or too many") }
        do throws(StateFolder.Failure) {
            records = ReceivedRecords(for: target, in: try StateFolder())
        } catch {
            if error.isNewer { throw CommandError(.badConfiguration, "\(error)") }
            records = nil
            app.notices.notice("nothing is remembered of folders that are received (\(error))")
        }
    }

    /// Where the files of this sender go.
    /// - Parameter key: the fingerprint of the sender's key.
    func landing(of key: [UInt8]) -> Landing {
        // Without a readable record, files go into one more numbered folder; that is no reason to refuse them.
        let record = try? records?.record(of: key)
        return Landing(in: target, received: record ?? Received())
    }
}

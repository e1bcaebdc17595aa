import AppSupport
import CommandFrame
import FileDropCore

/// A folder that receives, and what is remembered of those who send.
struct Inbox: Sendable {
    let target: TargetFolder
    let parts: KeptParts
    /// Whether files of others may become programs.
    let takesPrograms: Bool
    /// Nil where nothing can be remembered.
    private let records: ReceivedRecords?

    /// Opens a folder, and removes what others have left unfinished in it for too long.
    init(_ path: String, takesPrograms: Bool, _ app: App) throws {
        target = try TargetFolder(path)
        self.takesPrograms = takesPrograms
        let (parts, removed) = KeptParts.find(in: target)
        self.parts = parts
        if removed > 0 { app.notices.notice("removed \(removed) unfinished files that are old, or too many") }
        do throws(StateFolder.Failure) {
            records = ReceivedRecords(for: target, in: try StateFolder())
        } catch {
            records = nil
            app.notices.notice("nothing is remembered of folders that are received (\(error))")
        }
    }

    /// What a sender's earlier transfers made here.
    /// - Parameter key: nil when it has not proved who it is: then all is new.
    func landing(of key: [UInt8]?) -> Landing {
        // A record that cannot be read is one more folder with a number, no reason to take nothing.
        let record = key.flatMap { try? records?.record(of: $0) }
        return Landing(in: target, received: record ?? Received())
    }
}

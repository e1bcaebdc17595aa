import Foundation
import Glibc
import Testing

/// How long each test took from when it might run: the times that the test library tells count the wait, too.
enum LabTimes {
    /// A file that gets a line for each: seconds, its turn, the test.
    private static let file = ProcessInfo.processInfo.environment["LAB_TIMES"]

    static func record(_ test: Test, _ turn: LabSlot.Turn, took duration: Duration) {
        guard let file, let stream = fopen(file, "ae") else { return }
        defer { fclose(stream) }
        let seconds = String(format: "%.1f", duration / .seconds(1))
        // One write at the end: lines of tests that end at once stay apart.
        fputs("\(seconds)\t\(turn)\t\(test.id)\n", stream)
    }
}

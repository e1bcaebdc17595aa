import Foundation
import Glibc
import Testing

/// Records how long each test took from when it could run; the test library's times include the wait.
enum LabTimes {
    /// A file that receives a line per test: seconds, when it began, its turn, the test.
    private static let file = ProcessInfo.processInfo.environment["LAB_TIMES"]

    static func record(_ test: Test, _ turn: LabSlot.Turn, took duration: Duration) {
        guard let file, let stream = fopen(file, "ae") else { return }
        defer { fclose(stream) }
        let seconds = duration / .seconds(1)
        let began = Date(timeIntervalSinceNow: -seconds).formatted(.iso8601.time(includingFractionalSeconds: false))
        // A single write at the end, so that lines of simultaneous tests do not mix.
        fputs("\(String(format: "%.1f", seconds))\t\(began)\t\(turn)\t\(test.id)\n", stream)
    }
}

import Foundation
import Testing

/// A document of the project: what it shows is what the programs print.
struct ProjectDocument {
    private let text: String

    /// - Parameter path: within the package, as `README.md`.
    init(_ path: String) throws { text = try String(contentsOfFile: "\(Lab.package)\(path)", encoding: .utf8) }

    /// What stands under a heading of the second level.
    func section(_ title: String) throws -> String {
        try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix("\(title)\n") }, "no section \(title)")
    }

    /// The lines of the block with a line, after that line.
    func block(after line: String) -> [String] {
        Array(text.components(separatedBy: "\n").drop { $0 != line }.dropFirst().prefix { $0 != "```" })
    }

    /// What people type at terminals in a section, and see.
    func transcripts(in title: String) throws -> [Transcript] {
        // Every second part is a block.
        let parts = try section(title).components(separatedBy: "\n```").enumerated()
        return parts.filter { !$0.offset.isMultiple(of: 2) }.flatMap { Transcript.all(in: $0.element) }
    }
}

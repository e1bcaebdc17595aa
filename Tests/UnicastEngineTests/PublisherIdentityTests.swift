import Foundation
import Glibc
import Testing

@testable import UnicastEngine

/// Where a publisher's id is kept, and what is in the way there.
@Suite struct PublisherIdentityTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "id-\(UUID().uuidString)/a")
        .path(percentEncoded: false)

    private var file: String { "\(directory)/publisher-0" }

    @Test func theNextProcessHasTheSameOneAndAnotherBesideDoesNot() throws {
        let first = PublisherIdentity(directory: directory)
        let beside = PublisherIdentity(directory: directory)
        #expect(!first.isKnown && !beside.isKnown && first.id != beside.id && first.reason == nil)
        // A copy, because another test's process that is just being started may hold the lock for a moment.
        try FileManager.default.copyItem(atPath: directory, toPath: "\(directory)-next")
        let next = PublisherIdentity(directory: "\(directory)-next")
        #expect(next.id == first.id && next.isKnown)
        withExtendedLifetime((first, beside)) {}
    }

    @Test func linksAreNeitherFollowedNorWrittenTo() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let victim = "\(directory)/../victim"
        try Data("not an id".utf8).write(to: URL(filePath: victim))
        #expect(symlink(victim, file) == 0)
        #expect(link(victim, "\(directory)/publisher-1") == 0)
        #expect(mkfifo("\(directory)/publisher-2", 0o600) == 0)
        #expect(mkdir("\(directory)/publisher-3", 0o700) == 0)
        let identity = PublisherIdentity(directory: directory)
        #expect(identity.reason == nil)
        #expect(try Data(contentsOf: URL(filePath: victim)) == Data("not an id".utf8))
        let kept = try String(contentsOfFile: "\(directory)/publisher-4", encoding: .utf8)
        #expect(kept == identity.id.text + "\n")
    }

    @Test func whatOthersMayWriteIsNotUsed() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        chmod(directory, 0o777)
        #expect(PublisherIdentity(directory: directory).reason?.contains("not this user's alone") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        chmod(directory, 0o700)
        try Data(String(repeating: "a", count: 32).utf8).write(to: URL(filePath: file))
        chmod(file, 0o666)
        #expect(PublisherIdentity(directory: directory).id.text != String(repeating: "a", count: 32))
        chmod(file, 0o600)
        let identity = PublisherIdentity(directory: directory)
        #expect(identity.id.text == String(repeating: "a", count: 32) && identity.isKnown)
    }

    @Test("Another user's directory and file are left alone", .enabled(if: geteuid() == 0))
    func ofAnotherUser() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(String(repeating: "a", count: 32).utf8).write(to: URL(filePath: file))
        chmod(file, 0o600)
        chown(file, 65_534, 65_534)
        #expect(PublisherIdentity(directory: directory).id.text != String(repeating: "a", count: 32))
        chown(directory, 65_534, 65_534)
        #expect(PublisherIdentity(directory: directory).reason?.contains("not this user's alone") == true)
    }
}

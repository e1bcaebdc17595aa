import AppSupport
import FileDropCore
import Foundation
import Testing

/// A receiving folder and its state folder, both the test's own.
final class TestInbox {
    let root = FileManager.default.temporaryDirectory.appending(path: "filedrop-\(UUID().uuidString)")
    let target: TargetFolder
    let state: StateFolder
    var path: String { root.appending(path: "in").path(percentEncoded: false) }
    var statePath: String { root.appending(path: "state").path(percentEncoded: false) }

    init() throws {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        target = try TargetFolder(root.appending(path: "in").path(percentEncoded: false))
        state = try StateFolder(root.appending(path: "state").path(percentEncoded: false))
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    var names: [String] { get throws { try FileManager.default.subpathsOfDirectory(atPath: path).sorted() } }

    func content(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }

    func mode(_ name: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.posixPermissions] as? Int)
    }

    /// What a sender's earlier transfers made, as another run of the program reads it.
    func landing(_ sender: [UInt8] = [1]) throws -> Landing {
        Landing(in: target, received: try ReceivedRecords(for: target, in: state).record(of: sender))
    }

    /// Transfers one file completely.
    func send(_ entry: Entry, _ content: String, to landing: Landing, of sender: [UInt8] = [1]) throws {
        let file = try IncomingFile(in: landing.place(of: entry), resuming: entry, of: sender)
        try file.append(Array(content.utf8))
        let digest = file.digest
        try file.commit(modified: entry.modified)
        landing.note(file, for: entry, digest: digest)
    }
}

func entry(_ path: String, _ content: String = "", _ kind: Entry.Kind = .file, _ origin: Origin = origin) throws
    -> Entry
{
    Entry(
        path: try #require(RelativePath(path.utf8)), kind: kind, size: Int64(content.utf8.count),
        modified: 1_700_000_000, isExecutable: false, origin: origin)
}

func digest(_ text: String) -> [UInt8] {
    var checksum = Checksum()
    checksum.update(Array(text.utf8))
    return checksum.digest
}

private let origin = Origin()

@Suite("Files that are received")
struct IncomingFileTests {
    @Test("a file has its name only when it is complete, with the time it had, and is no program")
    func complete() throws {
        let inbox = try TestInbox()
        let entry = try entry("a/b.txt", "hello")
        let file = try IncomingFile(in: inbox.landing().place(of: entry), resuming: entry, of: [1])
        try file.append(Array("hello".utf8))
        #expect(try !inbox.names.contains("a/b.txt"))
        try file.commit(modified: 1_700_000_000)
        #expect(try inbox.names == ["a", "a/b.txt"])
        #expect(try inbox.content("a/b.txt") == "hello")
        let attributes = try FileManager.default.attributesOfItem(atPath: inbox.path + "/a/b.txt")
        #expect(attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(try inbox.mode("a/b.txt") & 0o111 == 0)
    }

    @Test("discarded or forgotten files leave nothing behind")
    func discarded() throws {
        let inbox = try TestInbox()
        let entry = try entry("a", "hello")
        let file = try IncomingFile(in: inbox.target.place, resuming: entry, of: [1])
        try file.append([1, 2])
        file.discard()
        #expect(try inbox.names.isEmpty)
        do { try IncomingFile(in: inbox.target.place, name: entry.path).append([1]) }
        #expect(try inbox.names.isEmpty)
    }

    @Test("another attempt goes on where the first broke off, when the sender has the same bytes")
    func resumed() throws {
        let inbox = try TestInbox()
        let entry = try entry("a", "hello")
        let place = inbox.target.place
        do {
            let file = try IncomingFile(in: place, resuming: entry, of: [1])
            try file.append(Array("hel".utf8))
            file.keep()
        }
        var other = entry
        other.modified += 1
        #expect(try IncomingFile(in: place, resuming: other, of: [1]).count == 0)
        #expect(try IncomingFile(in: place, resuming: entry, of: [2]).count == 0, "another sender")
        let file = try IncomingFile(in: place, resuming: entry, of: [1])
        #expect(file.count == 3)
        #expect(try file.isSame(as: digest("hel")) { true })
        try file.append(Array("lo".utf8))
        #expect(file.digest == digest("hello"))
        try file.commit()
        #expect(try inbox.names == ["a"])
        #expect(try inbox.content("a") == "hello")
    }

    @Test("a differing part starts again; the comparison stops when no longer wanted, and keeps the part")
    func notResumed() throws {
        let inbox = try TestInbox()
        let entry = try entry("a", "hello")
        do {
            let file = try IncomingFile(in: inbox.target.place, resuming: entry, of: [1])
            try file.append(Array("hel".utf8))
            file.keep()
        }
        do {
            let file = try IncomingFile(in: inbox.target.place, resuming: entry, of: [1])
            #expect(try !file.isSame(as: digest("hel")) { false })
            #expect(file.count == 3)
            file.keep()
        }
        let file = try IncomingFile(in: inbox.target.place, resuming: entry, of: [1])
        #expect(try !file.isSame(as: digest("xxx")) { true })
        #expect(file.count == 0)
        try file.append(Array("hello".utf8))
        #expect(file.digest == digest("hello"))
    }

    @Test("the same file twice at a time is refused")
    func twice() throws {
        let inbox = try TestInbox()
        let entry = try entry("a", "hello")
        let first = try IncomingFile(in: inbox.target.place, resuming: entry, of: [1])
        let place = inbox.target.place
        #expect(throws: FileFailure.self) { try IncomingFile(in: place, resuming: entry, of: [1]) }
        try first.append(Array("hello".utf8))
        try first.commit()
        #expect(try inbox.content("a") == "hello")
    }

    @Test("no file is replaced: the second gets another name")
    func taken() throws {
        let inbox = try TestInbox()
        for text in ["one", "two"] {
            let file = try IncomingFile(in: inbox.target.place, resuming: entry("a.txt", text), of: [1])
            try file.append(Array(text.utf8))
            try file.commit()
        }
        #expect(try inbox.content("a.txt") == "one")
        #expect(try inbox.content("a (2).txt") == "two")
        let long = String(repeating: "\u{FC}", count: 125) + ".jpg"
        for _ in 0..<2 {
            try IncomingFile(in: inbox.target.place, name: #require(RelativePath(long.utf8))).commit()
        }
        let variant = String(repeating: "\u{FC}", count: 123) + " (2).jpg"
        #expect(try inbox.names.sorted { $0.count > $1.count }.prefix(2) == [variant, long])
    }
}

@Suite("Ownership of folders and files")
struct LandingTests {
    @Test("a folder that was here before is not entered: the sender's gets another name")
    func foreignFolder() throws {
        let inbox = try TestInbox()
        try FileManager.default.createDirectory(atPath: inbox.path + "/proj/bin", withIntermediateDirectories: true)
        let landing = try inbox.landing()
        try landing.makeFolder(entry("proj", "", .folder))
        try inbox.send(entry("proj/bin/ls", "x"), "x", to: landing)
        #expect(try inbox.names == ["proj", "proj (2)", "proj (2)/bin", "proj (2)/bin/ls", "proj/bin"])
    }

    @Test("a later transfer of the same sender from the same place goes into the same folder; no other one does")
    func sameFolder() throws {
        let inbox = try TestInbox()
        try inbox.send(entry("photos/a", "1"), "1", to: inbox.landing())
        try inbox.send(entry("photos/b", "2"), "2", to: inbox.landing())
        #expect(try inbox.names == ["photos", "photos/a", "photos/b"])
        try inbox.send(entry("photos/c", "3"), "3", to: inbox.landing([2]), of: [2])
        try inbox.send(entry("photos/c", "4", .file, Origin()), "4", to: inbox.landing())
        try inbox.send(entry("photos/c", "5"), "5", to: Landing(in: inbox.target, received: Received()))
        #expect(
            try inbox.names.filter { $0.hasSuffix("c") } == ["photos (2)/c", "photos (3)/c", "photos (4)/c"])
        #expect(try FileManager.default.subpathsOfDirectory(atPath: inbox.path + "/photos").sorted() == ["a", "b"])
    }

    @Test("a folder of the same name that was made since is another's")
    func replacedFolder() throws {
        let inbox = try TestInbox()
        try inbox.send(entry("photos/a", "1"), "1", to: inbox.landing())
        try FileManager.default.removeItem(atPath: inbox.path + "/photos")
        try FileManager.default.createDirectory(atPath: inbox.path + "/photos", withIntermediateDirectories: false)
        try inbox.send(entry("photos/a", "1"), "1", to: inbox.landing())
        #expect(try inbox.names == ["photos", "photos (2)", "photos (2)/a"])
        // Including what someone else created in the sender's folder.
        try FileManager.default.createDirectory(
            atPath: inbox.path + "/photos (2)/own", withIntermediateDirectories: false)
        try inbox.send(entry("photos/own/x", "1"), "1", to: inbox.landing())
        #expect(try inbox.names.suffix(3) == ["photos (2)/own", "photos (2)/own (2)", "photos (2)/own (2)/x"])
    }

    @Test("a symbolic link in the folder is not followed, neither on the way nor as the file")
    func links() throws {
        let inbox = try TestInbox()
        let files = FileManager.default
        let outside = inbox.root.appending(path: "outside")
        try files.createDirectory(at: outside, withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: inbox.path + "/way", withDestinationPath: outside.path)
        try Data("old".utf8).write(to: outside.appending(path: "victim"))
        try files.createSymbolicLink(atPath: inbox.path + "/file", withDestinationPath: outside.path + "/victim")
        try inbox.send(entry("way/x", "new"), "new", to: inbox.landing())
        try inbox.send(entry("file", "new"), "new", to: inbox.landing())
        // A folder of the sender's that was replaced by a link.
        try files.moveItem(atPath: inbox.path + "/way (2)", toPath: outside.path + "/taken")
        try files.createSymbolicLink(atPath: inbox.path + "/way (2)", withDestinationPath: outside.path + "/taken")
        try inbox.send(entry("way/y", "new"), "new", to: inbox.landing())
        #expect(try files.subpathsOfDirectory(atPath: outside.path).sorted() == ["taken", "taken/x", "victim"])
        #expect(try inbox.names == ["file", "file (2)", "way", "way (2)", "way (3)", "way (3)/y"])
    }

    @Test("only a file that this sender sent is compared, and only with what it sent: nothing else can be guessed")
    func existing() throws {
        let inbox = try TestInbox()
        try Data("pin=4711\n".utf8).write(to: URL(filePath: inbox.path + "/secret.txt"))
        let secret = try entry("secret.txt", "pin=4711\n")
        #expect(try inbox.landing().existing(secret, in: inbox.target.place) == nil)

        let own = try entry("own", "pin=0000\n")
        try inbox.send(own, "pin=0000\n", to: inbox.landing())
        #expect(try inbox.landing([2]).existing(own, in: inbox.target.place) == nil, "another sender")
        #expect(try inbox.landing().existing(entry("own", "x"), in: inbox.target.place) == nil, "another size")
        let found = try #require(try inbox.landing().existing(own, in: inbox.target.place))
        #expect(found.path.text == "own")
        #expect(!found.isSame(as: digest("pin=4711\n")) { true })
        // The user has written a secret into the sender's file.
        try Data("pin=4711\n".utf8).write(to: URL(filePath: inbox.path + "/own"))
        let changed = try #require(try inbox.landing().existing(own, in: inbox.target.place))
        #expect(!changed.isSame(as: digest("pin=4711\n")) { true })
        #expect(!changed.isSame(as: digest("pin=0000\n")) { true })
        try Data("pin=0000\n".utf8).write(to: URL(filePath: inbox.path + "/own"))
        let same = try #require(try inbox.landing().existing(own, in: inbox.target.place))
        #expect(same.isSame(as: digest("pin=0000\n")) { true })
    }

    @Test("a comparison ends when no one waits for it")
    func cancelled() throws {
        let inbox = try TestInbox()
        let text = String(repeating: "x", count: 5 << 20)
        let own = try entry("own", text)
        try inbox.send(own, text, to: inbox.landing())
        let found = try #require(try inbox.landing().existing(own, in: inbox.target.place))
        var asked = 0
        let isSame = found.isSame(as: digest(text)) {
            asked += 1
            return asked < 3
        }
        #expect(!isSame && asked == 3)
    }

    @Test("a sender that sends nothing leaves no record")
    func noRecord() throws {
        let inbox = try TestInbox()
        for sender in UInt8(0)..<20 { _ = try inbox.landing([sender]).place(of: entry("a", "1")) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: inbox.statePath).isEmpty)
        try inbox.landing([1]).makeFolder(entry("photos", "", .folder))
        #expect(try FileManager.default.contentsOfDirectory(atPath: inbox.statePath).count == 2)
    }

    @Test("a record that was cut off or written into is read as far as it goes")
    func damagedRecord() throws {
        let inbox = try TestInbox()
        try inbox.send(entry("photos/a", "1"), "1", to: inbox.landing())
        let files = FileManager.default
        let name = try #require(try files.contentsOfDirectory(atPath: inbox.statePath).first)
        let record = "\(inbox.statePath)/\(name)"
        #expect(try files.attributesOfItem(atPath: record)[.posixPermissions] as? Int == 0o600)
        var content = try Data(contentsOf: URL(filePath: record))
        content.append(contentsOf: Array("\u{0}\u{FF}\t\t\nx\ty\tfolder\t../x\t1\t2\n1234".utf8))
        try content.write(to: URL(filePath: record))
        try inbox.send(entry("photos/b", "2"), "2", to: inbox.landing())
        #expect(try inbox.names == ["photos", "photos/a", "photos/b"])
    }
}

@Suite("Parts of files")
struct KeptPartsTests {
    private func part(_ name: String, _ size: Int, in inbox: TestInbox, age: TimeInterval = 0) throws {
        let path = "\(inbox.path)/\(name)"
        try Data(count: size).write(to: URL(filePath: path))
        let date = Date(timeIntervalSinceNow: -age)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    @Test("parts not resumed for 7 days are removed; files being received, and all others, stay")
    func old() throws {
        let inbox = try TestInbox()
        for name in ["old/deep/file", "busy"] {
            let entry = try entry(name, "hello")
            let file = try IncomingFile(in: inbox.landing().place(of: entry), resuming: entry, of: [1])
            try file.append([1])
            file.keep()
        }
        let busy = try IncomingFile(in: inbox.target.place, resuming: entry("busy", "hello"), of: [1])
        for name in ["file.part", ".filedrop-x"] { try part(name, 1, in: inbox) }
        try FileManager.default.createSymbolicLink(
            atPath: inbox.path + "/.filedrop-link.part", withDestinationPath: "file.part")
        let now = Int(Date().timeIntervalSince1970)
        #expect(KeptParts.find(in: inbox.target, now: now + KeptParts.lifetime - 60).removed == 0)
        #expect(KeptParts.find(in: inbox.target, now: now + KeptParts.lifetime + 60).removed == 1)
        let rest = try inbox.names
        #expect(rest.count == 6 && rest.suffix(3) == ["file.part", "old", "old/deep"], "\(rest)")
        busy.discard()
    }

    @Test("no more than 64 are kept, also of those that come while it runs: the smallest go")
    func many() throws {
        let inbox = try TestInbox()
        for number in 0..<80 { try part(".filedrop-\(number).part", 1000 + number, in: inbox) }
        let (parts, removed) = KeptParts.find(in: inbox.target)
        #expect(removed == 16)
        let large = try entry("large", String(repeating: "x", count: 3 << 20))
        do {
            let file = try IncomingFile(in: inbox.target.place, resuming: large, of: [1])
            try file.append([UInt8](repeating: 7, count: 2 << 20))
            parts.keep(file)
        }
        let names = try inbox.names
        #expect(names.count == 64 && !names.contains(".filedrop-16.part") && names.contains(".filedrop-17.part"))
        #expect(try IncomingFile(in: inbox.target.place, resuming: large, of: [1]).count == 2 << 20)
    }

    @Test("a part that is small is not kept at all")
    func small() throws {
        let inbox = try TestInbox()
        let parts = KeptParts.find(in: inbox.target).0
        let file = try IncomingFile(in: inbox.target.place, resuming: entry("a", "hello"), of: [1])
        try file.append([1])
        parts.keep(file)
        #expect(try inbox.names.isEmpty)
    }

    @Test("parts take at most half of the free space")
    func bytes() throws {
        let inbox = try TestInbox()
        // A sparse file as long as all free space, which uses none of it.
        var status = statvfs()
        try #require(statvfs(inbox.path, &status) == 0)
        let free = off_t(status.f_bavail) * off_t(status.f_frsize)
        try part(".filedrop-x.part", 1, in: inbox)
        try #require(truncate(inbox.path + "/.filedrop-x.part", free * 3) == 0)
        try part(".filedrop-y.part", 1000, in: inbox)
        // Its age is not the reason.
        #expect(KeptParts.find(in: inbox.target).removed == 1)
        #expect(try inbox.names == [".filedrop-y.part"])
    }
}

@Suite("The key of places")
struct OriginKeyTests {
    @Test("a key is made once and stays, readable by its user only")
    func kept() throws {
        let inbox = try TestInbox()
        let first = try OriginKey(in: inbox.state).origin(of: "/a")
        #expect(try OriginKey(in: inbox.state).origin(of: "/a") == first)
        #expect(OriginKey().origin(of: "/a") != first)
        let names = try FileManager.default.contentsOfDirectory(atPath: inbox.statePath)
        #expect(names.sorted() == ["format", "sender.key"])
        let mode = try FileManager.default.attributesOfItem(atPath: inbox.statePath + "/sender.key")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        try Data([1]).write(to: URL(filePath: inbox.statePath + "/sender.key"))
        let state = inbox.state
        #expect(throws: StateFolder.Failure.self) { try OriginKey(in: state) }
    }

    @Test("a state folder that others can write into is not used")
    func foreign() throws {
        let inbox = try TestInbox()
        let path = inbox.statePath
        #expect(chmod(path, 0o777) == 0)
        #expect(throws: StateFolder.Failure.self) { try StateFolder(path) }
    }
}

import DiscoveryJSON
import Testing

@testable import DiscoveryControl

/// Which sockets are trusted, judged by who owns the directories and links on the way.
@Suite struct SocketTrustTests {
    private typealias Entry = SocketTrust.Entry
    private static let (own, other): (UInt32, UInt32) = (1000, 1001)

    /// A file system with a few entries; everything else belongs to root alone.
    private func isTrusted(_ path: String, _ entries: [String: SocketTrust.Entry], links: [String: String] = [:])
        -> Bool
    {
        SocketTrust(
            user: Self.own,
            look: { path in
                entries[path]
                    ?? (path.hasSuffix(".sock")
                        ? file(0) : links[path] == nil ? directory(0) : Entry(kind: .link, owner: 0))
            },
            resolve: { links[$0] ?? $0 }
        ).isTrusted(path: path)
    }

    private func directory(_ owner: UInt32, shared: Bool = false, sticky: Bool = false) -> SocketTrust.Entry {
        Entry(kind: .directory, owner: owner, isShared: shared, isSticky: sticky)
    }
    private func file(_ owner: UInt32) -> SocketTrust.Entry { Entry(kind: .other, owner: owner) }

    @Test func rootsAndOnesOwn() {
        let path = "/run/discoverd/control.sock"
        #expect(isTrusted(path, [:]))
        // As in the packaged unit: the directory belongs to root, and another user listens.
        #expect(isTrusted(path, [path: file(Self.other)]))
        #expect(isTrusted("/run/user/1000/discoverd/control.sock", ["/run/user/1000": directory(Self.own)]))
    }

    @Test func whatAnotherUserOwnsOrMayWriteTo() {
        let path = "/run/discoverd/control.sock"
        for parent in ["/", "/run", "/run/discoverd"] {
            #expect(!isTrusted(path, [parent: directory(Self.other)]), "\(parent)")
            #expect(!isTrusted(path, [parent: directory(0, shared: true)]), "\(parent)")
        }
        // To Swift a slash with a combining mark is another character; to the system it is a slash.
        #expect(!isTrusted("/srv/\u{308}d/c.sock", ["/srv": directory(0, shared: true)]))
    }

    @Test func inADirectoryAsTmp() {
        let tmp = directory(0, shared: true, sticky: true)
        #expect(isTrusted("/tmp/d/c.sock", ["/tmp": tmp, "/tmp/d": directory(Self.own)]))
        #expect(!isTrusted("/tmp/d/c.sock", ["/tmp": tmp, "/tmp/d": directory(Self.other)]))
        #expect(isTrusted("/tmp/c.sock", ["/tmp": tmp, "/tmp/c.sock": file(Self.own)]))
        #expect(!isTrusted("/tmp/c.sock", ["/tmp": tmp, "/tmp/c.sock": file(Self.other)]))
    }

    @Test func linksLeadToWhatMustHoldToo() {
        #expect(isTrusted("/var/run/c.sock", [:], links: ["/var/run": "/run"]))
        #expect(!isTrusted("/var/run/c.sock", ["/run": directory(Self.other)], links: ["/var/run": "/run"]))
        let tmp = directory(0, shared: true, sticky: true)
        // The owner of a link may redirect it at any time.
        #expect(
            !isTrusted(
                "/tmp/l/c.sock", ["/tmp": tmp, "/tmp/l": Entry(kind: .link, owner: Self.other)],
                links: ["/tmp/l": "/run"]))
        #expect(!isTrusted("/run/c.sock", ["/run/c.sock": Entry(kind: .link, owner: 0)]))
    }

    @Test func relativePathsAreLookedAtWhereTheyAre() {
        #expect(isTrusted("d/c.sock", [:], links: ["d": "/home/d"]))
        #expect(!isTrusted("c.sock", ["/tmp": directory(0, shared: true)], links: [".": "/tmp"]))
    }
}

extension SocketTrust.Entry {
    fileprivate init(kind: Kind, owner: UInt32) {
        self.init(kind: kind, owner: owner, isShared: false, isSticky: false)
    }
}

import Discovery
import DiscoverySystem
import Glibc
import Testing

@testable import AvahiEngine

@Suite struct SharedBusTests {
    /// A temporary directory, removed with this value.
    private final class Folder {
        let path: String
        init() throws {
            var template = Array("/tmp/shared-bus-XXXXXX".utf8CString)
            path = String(cString: try #require(mkdtemp(&template)))
        }
        func bus() -> SharedBus { SharedBus(in: SharedBus.Place(directory: path, link: "x.bus", lock: "x.lock")) }
        var names: [String] { ((try? SystemFile.names(in: path)) ?? []).sorted() }
        deinit {
            for name in names { unlink(path + "/" + name) }
            rmdir(path)
        }
    }

    @Test func oneOwnerAtATimeAndNothingLeft() throws {
        let folder = try Folder()
        let (first, second) = (folder.bus(), folder.bus())
        #expect(first.claim() && first.claim())
        #expect(!second.claim())
        first.offer("/nowhere/bus")
        #expect(folder.names == ["x.bus", "x.lock"])
        #expect(!second.answers)
        second.withdraw()
        #expect(folder.names == ["x.bus", "x.lock"], "another's")
        first.withdraw()
        #expect(folder.names == [])
        #expect(second.claim())
        second.withdraw()
        #expect(folder.names == [])
    }

    /// A process that has the old file open while it is removed must not think it is the owner beside the one that created a new file.
    @Test func aLockOnAFileThatWasRemovedCountsForNothing() async throws {
        let folder = try Folder()
        let owners = Locked((now: 0, most: 0, all: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                let bus = folder.bus()
                let one = Unchecked(bus)
                group.addTask { @Sendable in
                    for _ in 0..<400 where one.value.claim() {
                        owners.withLock {
                            $0.now += 1
                            $0.all += 1
                            $0.most = max($0.most, $0.now)
                        }
                        sched_yield()
                        owners.withLock { $0.now -= 1 }
                        one.value.withdraw()
                    }
                }
            }
        }
        let (_, most, all) = owners.withLock { $0 }
        #expect(most == 1 && all > 0)
        #expect(folder.names == [])
    }

    /// Each value is used by one task only.
    private struct Unchecked: @unchecked Sendable {
        let value: SharedBus
        init(_ value: SharedBus) { self.value = value }
    }
}

import Testing

@testable import DiscoverySystem

@Suite("Which programs answer for the machine")
struct SystemResponderTests {
    private func found(
        _ holders: [PortHolder], _ processes: [SystemResponder.Process] = []
    ) -> [String] {
        SystemResponder.all(of: holders, processes: processes) { $0 == 104 ? "avahi" : nil }.map(\.description)
    }

    @Test("by the name of the process; who only asks, or answers for itself, is none")
    func visible() {
        let holders = ["python3", "chrome", "discoverd", "mdnsd", "systemd-resolve"].enumerated().map { index, name in
            PortHolder(process: Int32(index + 1), name: name, user: 0, inode: UInt64(index))
        }
        #expect(found(holders) == ["mdnsd (pid 4)", "systemd-resolved (pid 5)"])
        #expect(found([]) == [])
    }

    @Test("another person's program of such a name is none")
    func pretended() {
        let holders: [PortHolder] = [
            PortHolder(process: 1, name: "mdnsd", user: 54_321, inode: 1),
            PortHolder(process: nil, name: nil, user: 54_321, inode: 2),
        ]
        #expect(found(holders, [.init(id: 7, name: "avahi-daemon", user: 54_321)]) == [])
    }

    @Test("another user's by its name and user, or by the user's name")
    func hidden() {
        let holders = [
            PortHolder(process: nil, name: nil, user: 104, inode: 1),
            PortHolder(process: nil, name: nil, user: 104, inode: 2),
        ]
        #expect(found(holders, [.init(id: 7, name: "avahi-daemon", user: 104)]) == ["avahi-daemon (pid 7)"])
        // /proc shows no others' processes.
        #expect(found(holders) == ["avahi-daemon"])
        #expect(found([PortHolder(process: nil, name: nil, user: 1000, inode: 1)]) == [])
    }
}

import Foundation
import Testing

/// The lab must be trustworthy before anything is tested in it.
@Suite("The lab", .labSlot)
struct LabItselfTests {
    @Test("what avahi-publish says on h1 is seen on h2 by avahi-browse and by python-zeroconf")
    func hostsSeeEachOther() async throws {
        let lab = try await Lab.start()
        let publisher = try lab.exec("h1", "avahi-publish", "-s", "tony", "_witap._tcp", "9000", "path=/x", "flag")
        try await publisher.line(.stderr, "established") { $0.contains("Established") }

        let browsed = try await lab.run("h2", "avahi-browse", "-rtp", "_witap._tcp")
        #expect(browsed.contains { $0.hasPrefix("=;eth0;IPv4;tony;_witap._tcp;local;h1.local;10.77.0.1;9000;") })
        #expect(browsed.contains { $0.hasPrefix("=;eth0;IPv6;tony;_witap._tcp;local;h1.local;fe80::") })

        let zeroconf = try lab.python("h2", "zc_browse.py", "_witap._tcp", "--seconds", "20")
        // The addresses of the two families may arrive one after the other.
        let line = try await zeroconf.line(within: .seconds(20), "both addresses") {
            $0.contains("10.77.0.1") && $0.contains("fe80::")
        }
        let seen = try JSONDecoder().decode(Sighting.self, from: Data(line.utf8))
        #expect(seen.name == "tony" && seen.port == 9000 && seen.txt == ["cGF0aD0veA==", "ZmxhZw=="])
        #expect(seen.addresses.contains("10.77.0.1"))
        #expect(seen.addresses.contains { $0.hasPrefix("fe80::") && $0.hasSuffix("%eth0") })

        publisher.signal(SIGINT)
        #expect(try await publisher.exit() == .exited(0))
        try await lab.stop()
    }

    @Test("a host has no link but lo and eth0, and another network namespace than this process")
    func noWayOut() async throws {
        let lab = try await Lab.start(hosts: 3)
        for host in ["h1", "h2", "h3"] {
            let links = try await lab.run(host, "ls", "/sys/class/net")
            #expect(links == ["eth0", "lo"])
            let routes = try await lab.run(host, "ip", "route", "show", "default")
            #expect(routes.isEmpty)
            let namespace = try await lab.run(host, "readlink", "/proc/self/ns/net")
            #expect(namespace != [try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/net")])
        }
        try await lab.stop()
    }

    @Test("standard input, status and signals of a command on a host are its own")
    func commandsAreThemselves() async throws {
        let lab = try await Lab.start()
        let cat = try lab.exec("h1", "cat")
        cat.write("hello\n")
        try await cat.line { $0 == "hello" }
        cat.closeInput()
        #expect(try await cat.exit() == .exited(0))

        let seven = try lab.exec("h2", "sh", "-c", "exit 7")
        #expect(try await seven.exit() == .exited(7))

        let shell = try lab.exec("h1", "sh", "-c", "echo $$; exec sleep 1000")
        #expect(try await shell.line() == String(shell.pid))
        shell.signal(SIGTERM)
        #expect(try await shell.exit() == .signalled(SIGTERM))
        try await lab.stop()
    }

    @Test("avahi-daemon and dbus-daemon of a host can be killed and started again")
    func daemonsRestart() async throws {
        let lab = try await Lab.start()
        let first = try await lab.avahi("h1", "pid")
        try await lab.avahi("h1", "kill")
        try await lab.avahi("h1", "start")
        let second = try await lab.avahi("h1", "pid")
        #expect(first != second)
        try await lab.dbus("h1", "kill")
        try await lab.dbus("h1", "start")
        try await lab.stop()
    }

    @Test("SIGKILL of the holder ends every process of the lab, and leaves no file", arguments: [true, false])
    func nothingIsLeft(killed: Bool) async throws {
        let lab = try await Lab.start()
        let stray = try lab.exec("h1", "sh", "-c", "echo up; exec sleep 1000")
        try await stray.line { $0 == "up" }
        let readNamespace = try await lab.run("h1", "readlink", "/proc/self/ns/user")
        let namespace = try #require(readNamespace.first)
        #expect(processes(in: namespace).count >= 6)
        if killed { lab.killHolder() } else { try await lab.stop() }
        #expect(try await stray.exit() == .signalled(SIGKILL))
        try await eventually(within: .seconds(10), "nothing is left: \(processes(in: namespace)), \(lab.directory)") {
            let isGone = processes(in: namespace).isEmpty && !FileManager.default.fileExists(atPath: lab.directory)
            return isGone ? true : nil
        }
    }

    private struct Sighting: Decodable {
        var name: String
        var port: Int
        var txt: [String]
        var addresses: [String]
    }

    /// The living processes in a user namespace, from /proc.
    private func processes(in namespace: String) -> [String] {
        let files = FileManager.default
        return ((try? files.contentsOfDirectory(atPath: "/proc")) ?? []).filter { pid in
            guard (try? files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/ns/user")) == namespace,
                let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
            else { return false }
            return !status.contains(") Z ")
        }
    }
}

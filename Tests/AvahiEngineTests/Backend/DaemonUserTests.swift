import Testing

@testable import AvahiEngine

@Suite struct DaemonUserTests {
    private let passwd = """
        root:x:0:0:root:/root:/bin/bash
        nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
        avahi:x:102:105:Avahi mDNS daemon,,,:/run/avahi-daemon:/usr/sbin/nologin
        """

    @Test func isAvahisOwnElseNobody() {
        #expect(DaemonUser(passwd: passwd) == DaemonUser(user: 102, group: 105))
        let without = passwd.split(separator: "\n").dropLast().joined(separator: "\n")
        #expect(DaemonUser(passwd: without) == DaemonUser(user: 65534, group: 65534))
        #expect(DaemonUser(passwd: "root:x:0:0::/:\n") == nil)
    }

    @Test(arguments: [
        "avahi:x:0:0::/:", "avahi:x:102:0::/:", "avahi:x:-1:1::/:", "avahi:x:99999999999:1::/:", "avahi:x", "",
    ])
    func isNeverRootAndNeverAGuess(_ line: String) {
        #expect(DaemonUser(passwd: line) == nil)
        #expect(DaemonUser(passwd: line + "\n" + passwd) == DaemonUser(user: 102, group: 105))
    }
}

import DNSSD
import Foundation
import PeerIdentity
import Testing

struct TrustFileTests {
    private static let key = "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    @Test("authorities and names, or pins; comments and empty lines say nothing")
    func reads() throws {
        let file = try TrustFile("# ours\r\n\nca /etc/ssl/fleet.pem\r\nname db.example.org \nname My Printer\n")
        #expect(file.authorities == ["/etc/ssl/fleet.pem"] && file.names == ["db.example.org", "My Printer"])
        #expect(try TrustFile("pin \(Self.key)\n").pins == [try #require(KeyFingerprint(Self.key))])
        #expect(try TrustFile("# nothing\n") == TrustFile(""))
    }

    @Test(
        "what is misspelt is an error with its line",
        arguments: [
            ("ca fleet.pem", "line 1: no absolute path"), ("\npin SHA256:AA", "line 2: no key: SHA256:…"),
            ("pins \(key)", "line 1: neither 'ca PATH', 'name NAME' nor 'pin SHA256:…'"),
            ("name", "line 1: neither 'ca PATH', 'name NAME' nor 'pin SHA256:…'"),
            ("name x", "'name' goes with 'ca'"), ("ca /x\npin \(key)", "'ca' and 'pin' exclude each other"),
        ])
    func errors(_ text: String, _ reason: String) {
        let failure = #expect(throws: TrustFile.Failure.self) { try TrustFile(text) }
        #expect(failure?.description == reason)
    }

    @Test("the first directory that has the file counts; others may not write it, nor what it names")
    func directories() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("trust-\(UUID().uuidString)").path
        let (own, machine) = ("\(folder)/own", "\(folder)/machine")
        for path in [own, machine] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        let directories = ["\(folder)/none", own, machine]
        #expect(try TrustFile.trust(in: directories) == nil)
        func write(_ text: String, _ path: String, _ mode: Int = 0o644) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        try write("pin \(Self.key)\n", "\(machine)/trust")
        #expect(try TrustFile.trust(in: directories) == .pinned([try #require(KeyFingerprint(Self.key))]))
        try write("PEM", "\(folder)/ca.pem")
        try write("ca \(folder)/ca.pem\nname x\n", "\(own)/trust")
        let expected = PeerTrust.authority(PeerAuthority(certificates: "PEM\n", names: ["x"]))
        #expect(try TrustFile.trust(in: directories) == expected)
        for path in ["\(folder)/ca.pem", "\(own)/trust"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
            let failure = #expect(throws: TrustFile.Failure.self) { try TrustFile.trust(in: directories) }
            #expect(failure?.description.contains("another user may write it") == true)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        try FileManager.default.removeItem(atPath: "\(folder)/ca.pem")
        #expect(throws: TrustFile.Failure.self) { try TrustFile.trust(in: directories) }
        // A link to nothing does not let the next directory's count.
        try FileManager.default.removeItem(atPath: "\(own)/trust")
        try FileManager.default.createSymbolicLink(atPath: "\(own)/trust", withDestinationPath: "nowhere")
        #expect(throws: TrustFile.Failure.self) { try TrustFile.trust(in: directories) }
    }

    @Test("a certificate is for the name that was dialled, or those that are wanted")
    func names() throws {
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        let tony = PeerName.service(instance)
        let any = PeerAuthority(certificates: "")
        #expect(any.admits(["TONY"], as: tony) && any.admits(["x", "tony._witap._tcp.local"], as: tony))
        #expect(!any.admits(["h1.local", "ton", "tony.local", ""], as: tony) && !any.admits([], as: tony))
        #expect(any.admits(["h1.local"], as: .host(try HostName("H1.local"))))
        #expect(any.admits([], as: .label("anyone")))
        let named = PeerAuthority(certificates: "", names: ["h1.example.org"])
        #expect(named.admits(["h1.example.org"], as: tony) && !named.admits(["tony"], as: tony))
        #expect(!named.admits(["anyone"], as: .label("anyone")))
    }
}

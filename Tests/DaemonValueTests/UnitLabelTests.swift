import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import Foundation
import Labels
import Testing

/// `X-Discoverd-` lines of systemd's unit files.
@Suite("labels of units")
struct UnitLabelTests {
    private static func read(_ texts: String...) -> [String] {
        var labels = UnitLabels()
        for text in texts { labels.read(text) }
        return labels.labels.map { "\($0.key)=\($0.value)" }
    }

    @Test("lines of ours, of any section; the last one counts, an empty one takes back, TXT and aliases add up")
    func lines() {
        let file = """
            [Unit]
            Description=Web
            X-Discoverd-Publish=_http._tcp
            # X-Discoverd-Port=1
            [Service]
            ExecStart=/bin/true \\
              X-Discoverd-Port=2
             X-Discoverd-Port=3
            X-Discoverd-Port = 80
            X-Discoverd-Txt=path=/x=y
            X-Discoverd-Txt=flag
            X-Discoverd-Alias=wiki
            """
        let all = ["publish=_http._tcp", "port=80", "txt.path=/x=y", "txt.flag=", "alias=wiki"]
        #expect(Self.read(file) == all)
        #expect(
            Self.read(file, "X-Discoverd-Txt=\nX-Discoverd-Port=81\nX-Discoverd-Alias=shop") == [
                "publish=_http._tcp", "alias=wiki", "port=81", "alias=shop",
            ])
        #expect(Self.read(file, "X-Discoverd-Publish=\nX-Discoverd-Alias=").first == "port=80")
        #expect(Self.read(String(repeating: "X-Discoverd-Txt=a\n", count: 1000)).count == Labelled.maximumLabels + 1)
        #expect(Self.read("X-Discoverd-\nX-Discoverd-=\n=\n\\").isEmpty)
    }

    @Test("a unit's file and its drop-ins, of the most important directory; a template's; what is no file is left out")
    func files() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "units-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        func write(_ path: String, _ lines: String...) throws {
            let path = "\(root)/\(path)"
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try lines.map { "X-Discoverd-\($0)\n" }.joined().write(toFile: path, atomically: true, encoding: .utf8)
        }
        try write("lib/web.service", "Publish=_http._tcp", "Port=80")
        try write("etc/web.service.d/10.conf", "Port=81")
        try write("lib/web.service.d/10.conf", "Port=82")
        try write("lib/web.service.d/20.conf", "Name=Web")
        try write("lib/w@.service", "Publish=_http._tcp", "Port=90")
        try write("etc/w@7.service.d/x.conf", "Port=97")
        try FileManager.default.createDirectory(
            atPath: "\(root)/lib/dir.service", withIntermediateDirectories: true)
        let files = UnitFiles(["\(root)/etc", "\(root)/lib"])
        func labels(_ unit: String) -> [String] { files.subject(unit).labels.map { "\($0.key)=\($0.value)" } }
        #expect(labels("web.service") == ["publish=_http._tcp", "port=81", "name=Web"])
        #expect(labels("w@7.service") == ["publish=_http._tcp", "port=97"])
        #expect(files.subject("w@7.service").name == "w@7")
        #expect(files.subject("dir.service").saysNothing && files.subject("none.service").saysNothing)
        var grants = LabelGrants()
        (grants.types, grants.names) = (nil, .all)
        var web = files.subject("web.service")
        web.labels.append(("check", "tcp"))
        #expect(LabelReading(web, grants).requests.first?.check?.text == "tcp")
        for check in ["exec:rm", "unit:ssh.service", "pid:1"] {
            web.labels[3].value = check
            let reading = LabelReading(web, grants)
            #expect(reading.requests.isEmpty && reading.problems.first?.contains("tcp or http") == true, "\(reading)")
        }
        #expect(LabelReading(files.subject("web.service"), grants).requests.map(\.service.name.text) == ["Web"])
    }
}

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

    @Test(
        "lines are systemd's: any end of line, leading blanks, comments within a line that goes on, the last without an end",
        arguments: [
            ("\u{FEFF}X-Discoverd-Port=1\r\n\tX-Discoverd-Name=a b \r\n", ["port=1", "name=a b"]),
            ("X-Discoverd-Port=1\rX-Discoverd-Name=a\0X-Discoverd-Alias=b", ["port=1", "name=a", "alias=b"]),
            ("X-Discoverd-Name=a\\\n # X-Discoverd-Port=1\\\n;\nb", ["name=a b"]),
            ("# no \\\nX-Discoverd-Port=1", ["port=1"]),
            ("X-Discoverd-Name=a\\\\\nX-Discoverd-Port=1", ["name=a\\\\", "port=1"]),
            ("X-Discoverd-Name=a \\\r\n", ["name=a"]),
            ("X-Discoverd-Name=a\u{2028}X-Discoverd-Port=1", ["name=a\u{2028}X-Discoverd-Port=1"]),
        ] as [(String, [String])])
    func syntax(_ text: String, _ labels: [String]) { #expect(Self.read(text) == labels) }

    @Test("what is wrong is called as the unit's file has it")
    func wrong() {
        var grants = LabelGrants()
        grants.types = nil
        func problem(_ labels: [(key: String, value: String)]) -> String {
            var unit = Labelled(name: "web")
            (unit.labels, unit.isUnit, unit.isUp) = (labels, true, true)
            return LabelReading(unit, grants).problems.first ?? ""
        }
        #expect(problem([("port", "80")]).contains(#""X-Discoverd-Publish""#))
        #expect(problem([("prot", "80")]).hasPrefix(#""X-Discoverd-Prot" is no label: there are Publish, Name"#))
        let long = String(repeating: "x", count: 300)
        #expect(
            problem([("publish", "_http._tcp"), ("port", "80"), ("txt.a", long)]).hasPrefix(#""X-Discoverd-Txt=a""#))
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

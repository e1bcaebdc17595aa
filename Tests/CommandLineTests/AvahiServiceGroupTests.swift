#if Commands
import DNSSD
import Testing

@testable import DiscoverdCommands

@Suite struct AvahiServiceGroupTests {
    private func group(_ text: String) throws -> AvahiServiceGroup {
        try AvahiServiceGroup(XMLElement(document: Array(text.utf8)))
    }

    private func fault(_ text: String) -> XMLElement.Fault? {
        do {
            _ = try group(text)
            return nil
        } catch {
            return error as? XMLElement.Fault
        }
    }

    private func one(_ inside: String, name: String = "<name>a</name>", service: String = "<service>") -> String {
        "<service-group>\(name)\n\(service)<type>_http._tcp</type>\n\(inside)</service></service-group>"
    }

    @Test("Debian's own example, with everything that avahi.service(5) has")
    func all() throws {
        let group = try group(
            """
            \u{FEFF}<?xml version="1.0" standalone='no'?><!--*-nxml-*-->
            <!DOCTYPE service-group SYSTEM "avahi-service.dtd">

            <service-group>
              <name replace-wildcards="yes">100% of %h &amp; &#x201C;me&#8221;</name>
              <service protocol="ipv6">
                <type>_http._tcp</type> <subtype>_printer._sub._http._tcp</subtype>
                <domain-name>local</domain-name><host-name>printer.local</host-name>
                <port> 8080 </port>
                <txt-record>path=/a b=c</txt-record><txt-record>PATH=/second</txt-record><txt-record>flag</txt-record>
                <txt-record value-format="binary-hex">h=00fF</txt-record>
                <txt-record value-format="binary-base64">b=AAE=</txt-record><txt-record>e=</txt-record>
              </service>
              <service><type>_ssh._tcp</type><port>22</port></service>
            </service-group>
            <!-- the end -->
            """)
        #expect(group.name == "100%% of %h & \u{201C}me\u{201D}")
        let web = try #require(group.services.first)
        #expect(web.line == 6 && web.offered.type.description == "_http._tcp" && web.offered.port.rawValue == 8080)
        #expect(web.offered.family == .ipv6 && web.offered.subtypes == ["_printer"])
        #expect(web.offered.host?.name.text == "printer.local")
        let values = web.offered.txt.entries.map { [$0.key: $0.value] }
        #expect(
            values == [
                ["path": Array("/a b=c".utf8)], ["flag": nil], ["h": [0, 255]], ["b": [0, 1]], ["e": []],
            ])
        #expect(group.services.map(\.offered.port.rawValue) == [8080, 22])
    }

    @Test("a name without patterns keeps its per cent signs")
    func plain() throws {
        #expect(try group(one("<port>1</port>", name: "<name>%h %</name>")).name == "%%h %%")
    }

    @Test(
        "entities of its own, and what is not XML, are refused, with the line",
        arguments: [
            ("<!DOCTYPE a [<!ENTITY x 'y'>]><a/>", 1, "entities"),
            ("<a>&x;</a>", 1, "&x;".dropFirst().dropLast().description),
            ("<a>&#0;</a>", 1, "#0"), ("<a>&#xD800;</a>", 1, "#xD800"), ("<a>& b</a>", 1, "&amp;"),
            ("<a>\n<b></a>", 2, "does not end"), ("<a", 1, "written"), ("<a b=c/>", 1, "quotes"),
            ("<a b='1' b='2'/>", 1, "twice"), ("<a/>\n<b/>", 2, "follows"), ("", 1, "no element"),
            ("<a><![CDATA[x]]></a>", 1, "name"), ("<a>\n<!-- </a>", 2, "comment"), ("<a b='<'/>", 1, "does not end"),
            ("<?xml version='1.0' encoding='latin1'?><a/>", 1, "UTF-8"),
            (String(repeating: "<a>", count: 9), 1, "in each other"),
            (String(repeating: " ", count: 70_000), 1, "64 KiB"),
        ])
    func notRead(_ text: String, _ line: Int, _ words: String) {
        let fault = fault(text)
        #expect(fault?.line == line && fault?.reason.contains(words) == true, "\(String(describing: fault))")
    }

    @Test func bytesThatAreNotUTF8() {
        #expect(throws: XMLElement.Fault.self) { try XMLElement(document: [0x3C, 0xFF]) }
    }

    @Test("what makes no service says where, and why")
    func services() {
        let faults: [(String, Int, String)] = [
            ("<services/>", 1, "no service-group"), ("<service-group><name>a</name></service-group>", 1, "no service"),
            (one("<port>0</port>"), 3, "port"), (one("<port>x</port>"), 3, "no number"), (one(""), 2, "no port"),
            (one("<port>1</port><port>2</port>"), 3, "twice"), (one("<prot>1</prot>"), 3, "no place"),
            (one("<subtype>_a._sub._ssh._tcp</subtype><port>1</port>"), 3, "no subtype"),
            (one("<port>1</port>", service: "<service protocol='ipx'>"), 2, "protocol"),
            (one("<port>1</port>", name: "<name></name>"), 1, "name"),
            (one("<port>1</port>", name: "<name replace-wildcards='maybe'>a</name>"), 1, "wildcards"),
            (one("<port>1</port><txt-record value-format='binary-hex'>a=0</txt-record>"), 3, "hexadecimal"),
            (one("<port>1</port><txt-record value-format='binary-base64'>a=*</txt-record>"), 3, "base64"),
            (one("<port>1</port><txt-record>=a</txt-record>"), 3, "key"),
        ]
        for (text, line, words) in faults {
            let fault = fault(text)
            #expect(
                fault?.line == line && fault?.reason.contains(words) == true, "\(text): \(String(describing: fault))")
        }
    }
}
#endif

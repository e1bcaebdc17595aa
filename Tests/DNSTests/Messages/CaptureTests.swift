import DNSMessage
import Foundation
import Testing

/// Packets of avahi-daemon and python-zeroconf, compared with what tshark reads in them (Captures/capture makes the table).
@Suite("Captured packets")
struct CaptureTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let payload: [UInt8]
        let fields: [String: [String]]
        var testDescription: String { payload.map { String($0, radix: 16) }.joined() }
    }

    static let rows: [Row] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Captures/lab.tsv")
        let lines = ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n")
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        guard let names = lines.first else { return [] }
        return lines.dropFirst().map { line in
            let fields = zip(names, line).map { name, text in
                (
                    name,
                    text.isEmpty ? [] : text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                )
            }
            let hex = Array(line[0].utf8)
            let bytes = stride(from: 0, to: hex.count - 1, by: 2).compactMap {
                UInt8(String(decoding: hex[$0...$0 + 1], as: UTF8.self), radix: 16)
            }
            return Row(payload: bytes, fields: Dictionary(uniqueKeysWithValues: fields))
        }
    }()

    @Test("There are probes, announcements, questions, answers, known answers and goodbyes")
    func kinds() throws {
        let messages = try Self.rows.map { try Message(reading: $0.payload) }
        let responses = messages.filter { $0.flags.contains(.response) }
        #expect(messages.contains { !$0.authorities.isEmpty })
        #expect(responses.contains { $0.answers.contains { $0.ttl == 0 } })
        #expect(responses.contains { $0.answers.contains { $0.flushesCache } })
        #expect(messages.contains { !$0.flags.contains(.response) && !$0.answers.isEmpty })
        #expect(messages.contains { $0.questions.contains(where: \.wantsUnicastResponse) })
        #expect(responses.contains { !$0.additionals.isEmpty })
    }

    @Test("Each is read as tshark reads it, and written so that it is read again", arguments: rows)
    func asTshark(row: Row) throws {
        let message = try Message(reading: row.payload)
        let records = message.answers + message.authorities + message.additionals
        let read: [String: [String]] = [
            "dns.id": ["0x" + Self.hex(message.id)], "dns.flags": ["0x" + Self.hex(message.flags.rawValue)],
            "dns.count.queries": [String(message.questions.count)],
            "dns.qry.name": message.questions.map { Self.text($0.name) },
            "dns.qry.type": message.questions.map { String($0.type.rawValue) },
            "dns.qry.qu": message.questions.map { $0.wantsUnicastResponse ? "1" : "0" },
            "dns.resp.type": records.map { String($0.type.rawValue) },
            "dns.resp.cache_flush": records.map { $0.flushesCache ? "1" : "0" },
            "dns.resp.ttl": records.map { String($0.ttl) },
            "dns.a": records.compactMap { if case .a(let bits) = $0.data { Self.dotted(bits) } else { nil } },
            "dns.ptr.domain_name": records.compactMap {
                if case .ptr(let name) = $0.data { Self.text(name) } else { nil }
            },
            "dns.srv.port": records.compactMap {
                if case .srv(_, _, let port, _) = $0.data { String(port) } else { nil }
            },
            "dns.srv.target": records.compactMap {
                if case .srv(_, _, _, let target) = $0.data { Self.text(target) } else { nil }
            },
            "dns.txt": records.flatMap { record -> [String] in
                guard case .txt(let data) = record.data else { return [] }
                return (TextStrings.strings(of: data) ?? []).map { String(decoding: $0, as: UTF8.self) }
            },
            "dns.nsec.next_domain_name": records.compactMap {
                if case .nsec(let next, _) = $0.data { Self.text(next) } else { nil }
            },
        ]
        for (field, values) in read {
            // The table shows an empty TXT string as an empty cell.
            #expect((row.fields[field] ?? []) == (values == [""] ? [] : values), "\(field)")
        }
        #expect(!records.contains { if case .other = $0.data { true } else { false } })
        #expect(try Message(reading: message.written(compression: .multicast)) == message)
    }

    private static func text(_ name: DomainName) -> String {
        name.labels.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    }

    private static func hex(_ word: UInt16) -> String {
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 4 - text.count) + text
    }

    private static func dotted(_ bits: UInt32) -> String {
        [24, 16, 8, 0].map { String(bits >> $0 & 0xFF) }.joined(separator: ".")
    }
}

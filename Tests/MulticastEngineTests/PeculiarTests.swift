import DNSSD
import Discovery
import Foundation
import MulticastEngine
import Testing

/// What is believed of packets as real devices and hostile ones send them (Peculiar/peculiar makes the table).
@Suite("Peculiar packets")
struct PeculiarTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let fields: [String: String]
        var testDescription: String { self["case"] }
        subscript(_ field: String) -> String { fields[field] ?? "" }

        func bytes(_ field: String) -> [[UInt8]] {
            self[field].split(separator: "|").map { Self.bytes(Array($0.utf8)) }
        }

        private static func bytes(_ hex: [UInt8]) -> [UInt8] {
            stride(from: 0, to: hex.count - 1, by: 2).compactMap {
                UInt8(String(decoding: hex[$0...$0 + 1], as: UTF8.self), radix: 16)
            }
        }
    }

    static let rows: [Row] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Peculiar/peculiar.tsv")
        let lines = ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n")
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        guard let names = lines.first else { return [] }
        return lines.dropFirst().map { Row(fields: Dictionary(uniqueKeysWithValues: zip(names, $0))) }
    }()

    @Test("none of them is left out")
    func count() { #expect(Self.rows.count > 120 && Self.rows.allSatisfy { $0.fields.count == 9 }) }

    /// What a browse knows at the end.
    private struct Seen {
        var services: [ServiceInstance: Resolution?] = [:]
        var ended: Set<ServiceInstance> = []

        mutating func take(_ facts: [BrowseFact]) {
            for fact in facts {
                switch fact {
                case .appeared(let sighting): services[sighting.instance] = .some(nil)
                case .resolved(let resolution): services[resolution.instance] = resolution
                case .resolutionFailed(let instance, _): services[instance] = .some(nil)
                case .disappeared(let sighting), .withdrawn(let sighting), .hidden(let sighting):
                    services[sighting.instance] = nil
                    ended.insert(sighting.instance)
                case .merged, .gone, .listed, .backend, .degraded: break
                }
            }
        }

        func state(of instance: ServiceInstance) -> String {
            switch services[instance] {
            case .some(.some): "resolved"
            case .some(.none): "found"
            case nil: ended.contains(instance) ? "gone" : "nothing"
            }
        }
    }

    @Test("a service is found, resolved, and as it was said; nothing is invented", arguments: rows)
    func believed(_ row: Row) throws {
        let type = try ServiceType(sought: row["type"])
        var story = try LinkStory(ServiceQuery(.type(type, .local), resolution: .watch))
        var seen = Seen()
        for packet in row.bytes("packets") {
            seen.take(story.hear(packet: packet))
            seen.take(try story.wait(milliseconds: 2000))
        }
        seen.take(try story.wait(milliseconds: 4000))
        let name = ServiceName(observed: String(decoding: row.bytes("name").first ?? [], as: UTF8.self))
        let instance = ServiceInstance(name: name, type: type)
        let states = row["state"].split(separator: "|").map(String.init)
        let state = seen.state(of: instance)
        #expect(states.contains(state), "\(seen)")
        #expect(seen.services.keys.allSatisfy { $0 == instance || $0.name.text == "other" }, "\(seen)")
        guard let resolution = seen.services[instance]?.flatMap(\.self), state == states.first else { return }
        #expect(resolution.targets.map { "\($0.host)" }.joined(separator: ",") == row["host"])
        #expect(resolution.targets.map { "\($0.port?.rawValue ?? 0)" }.joined(separator: ",") == row["port"])
        #expect(resolution.txt.strings.flatMap { [UInt8($0.count)] + $0 } == row.bytes("txt").first ?? [])
        #expect(resolution.addresses.map(\.description).sorted().joined(separator: ",") == row["addresses"])
    }
}

import DNSMessage
import DNSSD

// The form of all packets.
extension Rule {
    static let packets: [Rule] = [
        Rule(
            3, .must, "6, 11", "Responses leave port 5353 for the group, with TTL 255",
            "Others ignore its answers, or take those of a forger on another network"
        ) { bench in
            let run = try bench.usual()
            let said = try bench.ask([run.list])
            try bench.expect(try bench.answer(said, run.list) != nil, "no answer to a question for the type")
            for packet in bench.said() where packet.isResponse {
                try bench.expect(packet.source.port == 5353, "a response from port \(packet.source.port)")
                try bench.expect(packet.hops == 255, "a response with TTL \(packet.hops)")
                let isOfGroup = packet.destination.address == Group.v4 || packet.destination.address == Group.v6
                try bench.expect(
                    isOfGroup && packet.destination.port == 5353, "a response that is not to the group's port 5353")
            }
        },
        Rule(
            4, .must, "6, 18", "Headers: id 0; responses with AA alone and without questions, queries without flags",
            "Strict receivers ignore its packets"
        ) { bench in
            let run = try bench.recording()
            for packet in run.said {
                guard let message = packet.message else { continue }
                try bench.expect(message.id == 0, "id \(message.id)")
                if packet.isResponse {
                    try bench.expect(
                        message.flags == [.response, .authoritative],
                        "a response with flags \(String(message.flags.rawValue, radix: 16))")
                    try bench.expect(message.questions.isEmpty, "a response with questions")
                } else {
                    try bench.expect(
                        message.flags.subtracting(.truncated) == [],
                        "a query with flags \(String(message.flags.rawValue, radix: 16))")
                }
            }
        },
        Rule(
            6, .should, "18.14", "Every packet is well formed, with compressed names",
            "Others read it in part or not at all; packets are larger than they need be"
        ) { bench in
            let run = try bench.recording()
            try bench.expect(!run.said.isEmpty, "it has said nothing")
            for packet in run.said {
                guard let message = packet.message else { throw Bench.Deviation(seen: "a packet that is no message") }
                let records = message.answers + message.authorities + message.additionals
                let names = message.questions.map(\.name) + records.map(\.name)
                let plain = names.reduce(0) { $0 + $1.wire.count }
                if Set(names).count < names.count, let short = try? message.written(compression: .multicast) {
                    try bench.expect(
                        packet.bytes.count < short.count + plain / 2,
                        "a packet of \(packet.bytes.count) bytes that has \(short.count) compressed")
                }
            }
        },
        Rule(
            7, .must, "17", "No packet is larger than the link's MTU, but for one record",
            "Packets in fragments are lost as a whole, and small devices cannot put them together"
        ) { bench in
            try bench.need(.many)
            let text = (0..<3).map { n in Array("k\(n)=".utf8) + [UInt8](repeating: 0x61, count: 90) }
            try bench.start((1...30).map { Service("s\($0)", port: 9000 + UInt16($0), txt: text) })
            _ = try bench.settle(within: 20)
            try bench.quiet()
            try bench.ask([Question(Names.type, .ptr)])
            try bench.pass(1.5)
            for packet in bench.said() {
                try bench.expect(
                    packet.fragments == 1 || packet.answers.count + packet.proposed.count <= 1,
                    "\(packet.fragments) fragments for \(packet.answers.count + packet.proposed.count) records")
            }
        },
        Rule(
            8, .should, "17", "A record that is larger than the MTU goes whole, in a packet of its own, in fragments",
            "What is in a long TXT record reaches nobody, though the service looks published"
        ) { bench in
            let text = (0..<12).map { n in Array("k\(n)=".utf8) + [UInt8](repeating: 0x61, count: 245) }
            try bench.start([Service(txt: text)])
            let whole = try bench.wait(10) { packet in
                packet.isResponse && packet.records.contains { $0.type == .txt && ($0.text?.count ?? 0) > 2900 }
            }
            try bench.expect(whole != nil, "a TXT record of 3000 bytes was never sent")
            try bench.expect(
                (whole?.answers.count ?? 0) == 1, "it went with \(whole?.answers.count ?? 0) answers in one packet")
        },
        Rule(
            9, .must, "20", "Everything goes over IPv4 and IPv6",
            "Hosts that have one family alone do not find it"
        ) { bench in
            let run = try bench.usual()
            for family in IPAddress.Family.allCases {
                try bench.expect(!run.announcements(over: family).isEmpty, "no announcement over \(family.rawValue)")
                try bench.expect(
                    run.said.contains { $0.family == family && $0.isProbe }, "no probe over \(family.rawValue)")
                try bench.quiet()
                let said = try bench.ask([run.list], over: family)
                let answer = try bench.answer(said, over: family) { $0.isLike(run.pointer) }
                try bench.expect(answer != nil, "no answer over \(family.rawValue)")
            }
        },
        Rule(
            10, .must, "8.3", "At rest it is quiet: no periodic announcement, no question",
            "Wi-Fi and batteries of all devices are used for nothing"
        ) { bench in
            _ = try bench.usual()
            try bench.pass(3)
            let mark = bench.mark
            try bench.pass(20)
            let heard = bench.said(since: mark, over: .ipv4)
            try bench.expect(heard.count <= 1, "\(heard.count) packets in 20 s of rest")
            try bench.expect(!heard.contains(where: \.isQuery), "a question at rest")
        },
    ]
}

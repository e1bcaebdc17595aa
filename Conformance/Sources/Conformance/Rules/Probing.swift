import DNSMessage
import DNSSD

// RFC 6762 §8.1, §8.3: before a name is used.
extension Rule {
    static let probing: [Rule] = [
        Rule(
            11, .must, "8.1", "A name is probed for three times, type ANY, 250 ms apart",
            "Two devices may end up with one name, and clients reach the wrong one"
        ) { bench in
            let run = try bench.recording()
            for family in IPAddress.Family.allCases where run.said.contains(where: { $0.family == family }) {
                let probes = run.probes(for: run.instance, over: family)
                try bench.expect(probes.count == 3, "\(probes.count) probes over \(family.rawValue)")
                let types = probes.flatMap(\.questions).filter { $0.name == run.instance }.map(\.type)
                try bench.expect(types.allSatisfy { $0 == .any }, "probes of type \(types.first?.description ?? "")")
                for (one, next) in zip(probes, probes.dropFirst()) {
                    let gap = next.at - one.at
                    try bench.expect(0.235...0.4 ~= gap, "\(bench.milliseconds(gap)) between probes")
                }
            }
        },
        Rule(
            12, .must, "8.1", "Probes propose all records of the name: SRV and TXT",
            "Of two that probe at the same time neither gives way"
        ) { bench in
            let run = try bench.recording()
            let probes = run.probes(for: run.instance)
            try bench.expect(!probes.isEmpty, "no probe for the name")
            for probe in probes {
                let types = Set(probe.proposed.filter { $0.name == run.instance }.map(\.type))
                try bench.expect(
                    types.isSuperset(of: [.srv, .txt]),
                    "proposed: \(types.map(\.description).sorted().joined(separator: ", "))")
            }
        },
        Rule(
            13, .must, "10.2", "Probes have no answers and no cache-flush bit",
            "Others forget the records of the one that has the name"
        ) { bench in
            let run = try bench.recording()
            let probes = run.said.filter(\.isProbe)
            try bench.expect(!probes.isEmpty, "no probes")
            for probe in probes {
                try bench.expect(probe.answers.isEmpty, "a probe with \(probe.answers.count) answers")
                try bench.expect(
                    !probe.proposed.contains(where: \.flushesCache), "a proposed record has the cache-flush bit")
            }
        },
        Rule(
            14, .should, "8.1", "Probes ask for unicast answers",
            "Every start makes others say to all what one wants to know"
        ) { bench in
            let run = try bench.recording()
            let questions = run.probes(for: run.instance).flatMap(\.questions)
            try bench.expect(
                !questions.isEmpty && questions.allSatisfy(\.wantsUnicastResponse), "probes without the QU bit")
        },
        Rule(
            15, .must, "8.1", "The host's name is probed for, with its addresses",
            "Two hosts of one name take each other's connections"
        ) { bench in
            let run = try bench.recording()
            let probes = run.probes(for: run.host)
            try bench.expect(probes.count >= 3, "\(probes.count) probes for the host's name")
            let types = Set(probes.flatMap(\.proposed).filter { $0.name == run.host }.map(\.type))
            try bench.expect(!types.isDisjoint(with: [.a, .aaaa]), "no address is proposed")
        },
        Rule(
            16, .should, "8.1", "Probes that begin together go together",
            "A machine with many services floods the link when it starts"
        ) { bench in
            try bench.need(.many)
            try bench.start((1...8).map { Service("s\($0)", port: 9000 + UInt16($0)) })
            _ = try bench.settle()
            let probes = bench.said(over: .ipv4).filter { packet in
                packet.isProbe && packet.questions.contains { $0.name.isWithin(Names.type) }
            }
            let names = probes.map { packet in packet.questions.filter { $0.name.isWithin(Names.type) }.count }
            try bench.expect(names.reduce(0, +) >= 8, "no probes for the services")
            try bench.expect(probes.count <= 12, "\(probes.count) packets of probes for 8 services")
        },
        Rule(
            17, .must, "8.1, 8.3", "Nothing is told of a name until 250 ms after the third probe",
            "Who has the name already may be heard too late"
        ) { bench in
            let run = try bench.recording()
            for family in IPAddress.Family.allCases where run.said.contains(where: { $0.family == family }) {
                let probes = run.probes(for: run.instance, over: family)
                guard probes.count >= 3, let told = run.announcements(over: family).first else {
                    throw Bench.Deviation(seen: "\(probes.count) probes over \(family.rawValue)")
                }
                let gap = told.at - probes[2].at
                try bench.expect(gap >= 0.235, "announced \(bench.milliseconds(gap)) after the third probe")
            }
        },
        Rule(
            18, .should, "8.3", "It is announced as soon as probing is over",
            "Services appear later than they could"
        ) { bench in
            let run = try bench.recording()
            let probes = run.probes(for: run.instance)
            guard let last = probes.last, let told = run.announcements().first else {
                throw Bench.Deviation(seen: "no probes, or no announcement")
            }
            try bench.expect(
                told.at - last.at <= 0.5, "announced \(bench.milliseconds(told.at - last.at)) after the last probe")
        },
    ]
}

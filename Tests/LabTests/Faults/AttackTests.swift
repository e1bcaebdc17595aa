import Foundation
import Testing

extension FaultTests {
    /// One host that says more than anyone wants to keep, ask for, or look at.
    @Suite("Attacks by one host", .labAlone, .enabled(if: Lab.isOnWire, "Avahi's cache is Avahi's"))
    struct AttackTests {
        private static let mostMemory = 160 * 1024
        private static let quiet = ["--hosts", "3", "--no-avahi", "h1", "--no-avahi", "h2", "--no-avahi", "h3"]

        private func crowd(_ lab: Lab, _ arguments: [String]) throws -> LabProcess {
            try lab.exec(
                "h3", [Lab.python, "\(Lab.scripts)/crowd.py"] + arguments,
                environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        }

        private func announceTony(_ lab: Lab) async throws -> LabProcess {
            try await lab.inject(
                "h2", #"{"services":[{"instance":"tony","type":"\#(Lab.type)","addresses":["10.77.0.2"]}]}"#)
        }

        @Test(
            "34,000 services under many hosts' names, seen over each family apart: the daemon stays within its memory, and a newcomer is found"
        )
        func manyServices() async throws {
            let lab = try await Lab.start(Self.quiet, environment: [:])
            let daemon = try await LabDaemon.start(on: "h1", of: lab, "finder: wire\nbrowse: [\(Lab.type)]\n")
            let pid = try pid_t(#require(try await daemon.curl("/v1/status").json()["pid"] as? Int))
            var views: [LabProcess] = []
            var figures: [Int] = []
            for view in Everything.of([nil, "-4", "-6"], inAChange: [nil]) {
                if let view { views.append(try lab.discoverd("h1", "browse", Lab.type, "-r", "--json", view)) }
                let family = view == "-6" ? ["-6"] : []
                let crowd = try crowd(lab, ["full", "34000", Lab.type, "--rate", "250"] + family)
                try await crowd.line(within: .seconds(60)) { $0 == "done" }
                figures.append(ProcessUsage(pid).kilobytes)
            }
            let start = ContinuousClock.now
            let tony = try await announceTony(lab)
            _ = try await daemon.curl("/v1/services?type=\(Lab.type)&name=tony", within: .seconds(60)) {
                $0.text.contains(#""state":"resolved""#)
            }
            let found = start.duration(to: .now)
            figures.append(ProcessUsage(pid).kilobytes)
            Figures(
                scenario: "40", what: "34,000 services of one host under many names, also -4 and -6; then a service",
                recovery: found, note: "the daemon: \(figures.map { $0 / 1024 }) MB"
            ).record()
            #expect(figures.allSatisfy { $0 < Self.mostMemory }, "\(figures)")
            for process in views + [tony] { try await process.stop() }
            try await daemon.stop()
            try await lab.stop()
        }

        @Test("A name a second that nobody answers for: a list of what is resolved settles")
        func drip() async throws {
            let lab = try await Lab.start(Self.quiet, environment: [:])
            let tony = try await announceTony(lab)
            let drip = try crowd(lab, ["drip", "60", Lab.type])
            try await drip.line(within: .seconds(10)) { $0 == "1" }
            for _ in Everything.of([1, 2, 3], inAChange: [1]) {
                let list = try lab.exec(
                    "h1", [Built.discoverd, "browse", Lab.type, "-t", "-r", "--json", "--no-daemon"] + Lab.finder)
                #expect(try await list.exit(within: .seconds(20)) == .exited(0))
                #expect(list.lines().contains { $0.contains(#""event":"settled""#) }, "\(list.lines())")
                #expect(list.lines().contains { $0.contains(#""name":"tony""#) })
            }
            drip.signal(SIGKILL)
            try await tony.stop()
            try await lab.stop()
        }
    }
}

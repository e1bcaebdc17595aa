internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc

extension ControlResponder {
    private func isUp(_ role: BackendHealth.Role) -> Double {
        health.state(of: role).map { $0.reason == nil ? 1 : 0 } ?? 0
    }

    func prometheus() async -> ControlAnswer {
        var text = PrometheusText()
        text.describe("discoverd_info", .gauge, "Always 1; the labels say what runs.")
        text.sample(
            "discoverd_info", [("version", facts.version), ("backend", facts.backend), ("finder", facts.finder)], 1)
        text.describe("discoverd_backend_up", .gauge, "1 while what publishes answers.")
        text.sample("discoverd_backend_up", [], isUp(.publisher))
        text.describe("discoverd_finder_up", .gauge, "1 while what finds services answers.")
        text.sample("discoverd_finder_up", [], isUp(.finder))
        text.describe("discoverd_backend_restarts_total", .counter, "How often the backend went away and came back.")
        text.sample("discoverd_backend_restarts_total", [], Double(health.restarts))
        text.describe("discoverd_degraded", .gauge, "1 while something is wrong; status says what.")
        text.sample("discoverd_degraded", [], health.reasons.isEmpty ? 0 : 1)
        text.describe("discoverd_clients", .gauge, "Connections to the control socket.")
        text.sample("discoverd_clients", [], Double(clientCount()))
        text.describe("discoverd_services", .gauge, "Services that are known, by type that is kept warm.")
        var known: Set<String> = []
        for row in warm.contents.sorted(by: { $0.feed.id < $1.feed.id }) {
            guard case .query(let query) = row.question, case .type(let type, let domain) = query.target,
                row.isPinned, known.insert("\(type).\(domain)").inserted
            else { continue }
            text.sample(
                "discoverd_services",
                [("type", type.description), ("domain", domain.text)],
                Double(row.feed.count)
            )
        }
        text.describe("discoverd_queries", .gauge, "Queries that are held open.")
        text.sample("discoverd_queries", [], Double(warm.contents.count))
        text.describe("discoverd_registrations", .gauge, "Services of this machine, by state.")
        let states = Dictionary(grouping: await registry.statuses, by: \.state)
        let shown: [RegistrationStatus.State] = [
            .established, .registering, .waiting, .withheld, .conflicted, .failed,
        ]
        for state in shown {
            text.sample("discoverd_registrations", [("state", state.rawValue)], Double(states[state]?.count ?? 0))
        }
        text.domains(facts.domains())
        text.exports(await facts.exports())
        process(&text)
        metrics.write(to: &text)
        return .whole(status: 200, type: PrometheusText.contentType, body: text.bytes)
    }

    /// What every exporter reports about its process; less without /proc.
    private func process(_ text: inout PrometheusText) {
        var usage = rusage()
        if unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 {
            let seconds = { (time: timeval) in Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
            text.describe("process_cpu_seconds_total", .counter, "CPU time used.")
            text.sample("process_cpu_seconds_total", [], seconds(usage.ru_utime) + seconds(usage.ru_stime))
        }
        if let bytes = try? SystemFile.read("/proc/self/statm", atMost: 4096) {
            let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
            if fields.count > 1, let pages = Double(fields[1]) {
                text.describe("process_resident_memory_bytes", .gauge, "Resident memory.")
                text.sample("process_resident_memory_bytes", [], pages * Double(sysconf(Int32(_SC_PAGESIZE))))
            }
        }
    }
}

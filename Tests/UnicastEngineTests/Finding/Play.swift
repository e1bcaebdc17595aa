import DNSMessage
import DNSSD
import Discovery
import Records

@testable import UnicastEngine

/// Rules played through in virtual time: every question is answered at once.
struct Play<Graph: ServerGraph> {
    var rules: ServerBrowse<Graph>
    let server: ScriptedServer
    private(set) var now = Duration.zero
    /// The most questions that were under way at once.
    private(set) var mostAtOnce = 0

    init(_ rules: ServerBrowse<Graph>, _ server: ScriptedServer) {
        self.rules = rules
        self.server = server
        self.rules.begin(at: .zero)
    }

    /// Lets time pass.
    /// - Returns: what is reported meanwhile.
    mutating func run(until end: Duration) -> [Graph.Fact] {
        var facts: [Graph.Fact] = []
        var rounds = 0
        while rounds < 100_000 {
            rounds += 1
            let questions = rules.due(at: now, jitter: { 1 })
            mostAtOnce = max(mostAtOnce, questions.count)
            for question in questions {
                do throws(DNSFailure) {
                    let reading = AnswerReading(try server.answer(question), to: question)
                    rules.answered(question, reading, at: now, jitter: 1)
                } catch {
                    rules.answered(question, AnswerReading(failure: error), at: now, jitter: 1)
                }
            }
            facts += rules.takeFacts()
            if !questions.isEmpty { continue }
            guard let next = rules.deadline, next <= end else { break }
            now = max(now, next)
        }
        now = end
        return facts
    }
}

extension Play<ServiceGraph> {
    init(
        _ server: ScriptedServer, _ type: String = "_http._tcp", resolution: ServiceQuery.Resolution = .watch,
        family: IPAddress.Family? = nil
    ) throws {
        let target = ServiceQuery.Target.type(try ServiceType(type), try Domain("home.example.org"))
        self.init(ServerBrowse(ServiceQuery(target, family: family, resolution: resolution)), server)
    }

    init(instance: String, _ server: ScriptedServer) throws {
        let instance = ServiceInstance(
            name: try ServiceName(instance), type: try ServiceType("_http._tcp"), domain: try Domain("home.example.org")
        )
        self.init(ServerBrowse(ServiceQuery(.instance(instance))), server)
    }
}

extension [BrowseFact] {
    var appeared: [String] {
        compactMap { if case .appeared(let sighting) = $0 { sighting.instance.name.text } else { nil } }
    }
    var gone: [String] {
        compactMap {
            switch $0 {
            case .withdrawn(let sighting), .disappeared(let sighting), .hidden(let sighting):
                sighting.instance.name.text
            default: nil
            }
        }
    }
    var resolutions: [Resolution] { compactMap { if case .resolved(let one) = $0 { one } else { nil } } }
    var failed: [String] {
        compactMap { if case .resolutionFailed(let instance, _) = $0 { instance.name.text } else { nil } }
    }
    var degraded: [String] { compactMap { if case .degraded(let text) = $0 { text } else { nil } } }
    var states: [EngineState] { compactMap { if case .backend(let state) = $0 { state } else { nil } } }
}

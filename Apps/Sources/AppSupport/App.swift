public import CommandFrame
public import DNSSD
public import Discovery
import DiscoveryJSON
import Synchronization

/// A running program: its options, output and network.
public final class App: Sendable {
    /// The options that all programs share.
    public let options: AppOptions
    /// Requests the end of the program, with its cause.
    public let stop: Stop
    /// Standard output.
    public let output: Output
    /// Standard error: messages for people, never data.
    public let notices: ProgramNotices
    /// What runs out while nothing finds, or nothing publishes.
    private let absences = Mutex<[Part: Task<Void, Never>]>([:])
    private let opened = Mutex<LocalNetwork?>(nil)

    private enum Part { case finder, publisher }

    init(options: AppOptions, stop: Stop, notices: ProgramNotices) {
        self.options = options
        self.stop = stop
        self.notices = notices
        output = Output(stop)
    }

    /// Whether to print one JSON object a line.
    public var json: Bool { options.json }

    /// The network, opened on first use. The runner shuts it down, so that goodbyes are always sent.
    public func network() throws -> LocalNetwork {
        try opened.withLock { opened in
            if let opened { return opened }
            let network = try options.openNetwork()
            opened = network
            return network
        }
    }

    /// Records the backend's state, and reports it unless `quietly`. Ends the program with status 69 after 5 s without a backend.
    public func observe(_ state: BackendState, quietly: Bool = false) { observe(state, of: .finder, quietly) }

    private func observe(_ state: BackendState, of part: Part, _ quietly: Bool) {
        switch state {
        case .available, .recovered:
            absences.withLock { $0.removeValue(forKey: part)?.cancel() }
            if state == .recovered && !quietly { notices.notice("services can be found and published again") }
        case .unavailable(let reason):
            absences.withLock { absences in
                guard absences[part] == nil else { return }
                absences[part] = stop.request(.failed(.noBackend(reason)), after: .seconds(5))
            }
        case .lost(let reason):
            if !quietly { notices.notice("nothing finds or publishes now: \(reason); what is known is kept") }
        }
    }

    /// Reports that a service is announced.
    public func tellPublished(_ publication: Publication, as name: ServiceName) {
        let service = publication.service
        if json { return output.json("published") { $0.publishedMembers(service, name: name) } }
        output.line("published \(name).\(service.type).\(service.domain.text) port \(service.port)")
    }

    /// Records the backend's state as reported by a publication, until the publication ends.
    public func observe(_ publication: Publication, quietly: Bool = false) async {
        var hadBackend = false
        var hasBackend: Bool?
        for await status in publication.updates {
            switch status.state {
            case .waiting(let reason):
                // Waiting means that the backend does not answer.
                if hasBackend != false {
                    observe(hadBackend ? .lost(reason) : .unavailable(reason), of: .publisher, quietly)
                }
                hasBackend = false
            case .registering where hasBackend == nil: continue
            default:
                if hasBackend != true { observe(hadBackend ? .recovered : .available, of: .publisher, quietly) }
                hasBackend = true
                hadBackend = true
            }
        }
    }

    func shutDown() async { await opened.withLock { $0 }?.shutdown() }
}

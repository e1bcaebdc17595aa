public import DNSSD
public import Discovery
import DiscoveryJSON
import Synchronization

/// A running program: its options, its output, its network.
public final class App: Sendable {
    /// Options of every program.
    public let options: AppOptions
    /// Standard output.
    public let output: Output
    /// Standard error: what people should know, never data.
    public let notices: Notices
    private let absence = Mutex<Task<Void, Never>?>(nil)
    private let opened = Mutex<LocalNetwork?>(nil)

    init(options: AppOptions, output: Output, notices: Notices) {
        self.options = options
        self.output = output
        self.notices = notices
    }

    /// Whether output is one JSON object a line.
    public var json: Bool { options.json }

    /// The network, opened when it is first asked for. The runner shuts it down, so that goodbyes are always sent.
    public func network() throws -> LocalNetwork {
        try opened.withLock { opened in
            if let opened { return opened }
            let network = try options.openNetwork()
            opened = network
            return network
        }
    }

    /// Takes note of the backend's state, and tells of it unless `quietly`. Without any backend for 5 s the program ends (status
    /// 69).
    public func observe(_ state: BackendState, quietly: Bool = false) {
        switch state {
        case .available, .recovered:
            absence.withLock { absence in
                absence?.cancel()
                absence = nil
            }
            if state == .recovered && !quietly { notices.notice("the backend is back") }
        case .unavailable(let reason):
            absence.withLock { absence in
                guard absence == nil else { return }
                // Unstructured: it outlives whoever observes.
                absence = Task {
                    guard (try? await Task.sleep(for: .seconds(5))) != nil else { return }
                    AppRunner.fail(AppError(DiscoveryError(.backendUnavailable, reason)))
                }
            }
        case .lost(let reason):
            if !quietly { notices.notice("lost the backend (\(reason)); what is known is kept") }
        }
    }

    /// Tells that a service is announced.
    public func tellPublished(_ publication: Publication, as name: ServiceName) {
        let service = publication.service
        if json { return output.json("published") { $0.publishedMembers(service, name: name) } }
        output.line("published \(name).\(service.type).\(service.domain.name) port \(service.port)")
    }

    /// Takes note of the backend's state as a publication sees it, until that ends.
    public func observe(_ publication: Publication, quietly: Bool = false) async {
        var watch = BackendWatch()
        for await status in publication.updates {
            if let news = watch.became(status) { observe(news, quietly: quietly) }
        }
    }

    func shutDown() async { await opened.withLock { $0 }?.shutdown() }
}

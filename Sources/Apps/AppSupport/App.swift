public import Discovery
import Synchronization

/// A running program: its options, its output, its network.
public final class App: Sendable {
    /// Options of every program.
    public let options: AppOptions
    /// Standard output.
    public let output: Output
    /// Standard error: what people should know, never data.
    public let notices: Notices
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

    func shutDown() async { await opened.withLock { $0 }?.shutdown() }
}

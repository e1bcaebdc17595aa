#if Commands
package import Discovery
package import DiscoveryControl

/// What the program with an HTTP server adds to the commands: the page.
package struct PageSupport: Sendable {
    /// What the page shows.
    package struct Source: Sendable {
        package let network: LocalNetwork
        /// What finds services, in a word.
        package let finder: String
        /// The daemon, if one is asked.
        package let daemon: ControlClient?
    }

    /// Takes the page's URL, once it is served.
    package typealias Serving = @Sendable (String) async -> Void

    /// Serves the page at a port of the loopback address, 0 for a free one, until the task is cancelled.
    package var serve: @Sendable (Source, UInt16, @escaping Serving) async throws -> Void

    package init(serve: @escaping @Sendable (Source, UInt16, @escaping Serving) async throws -> Void) {
        self.serve = serve
    }
}
#endif

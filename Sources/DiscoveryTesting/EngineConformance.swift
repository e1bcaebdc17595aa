public import Discovery

/// What every engine must do, whatever is under it. Each check stands alone and leaves nothing behind.
///
/// ```swift
/// @Test(arguments: EngineConformance.checks) func conforms(_ check: EngineConformance.Check) async throws {
///     try await check.run(environment)
/// }
/// ```
public enum EngineConformance {
    /// Two engines that see each other, and a hand on what is under them.
    public struct Environment: Sendable {
        /// The side that publishes. May be the same engine as `browser`.
        public var publisher: any DiscoveryEngine
        /// The side that browses.
        public var browser: any DiscoveryEngine
        /// Bounds and times of the checks' networks.
        public var limits: DiscoveryLimits
        /// How long to wait for one thing to happen.
        public var patience: Duration
        /// What is under the browsing side; nil: it cannot be stopped.
        public var browserBackend: Backend?
        /// The same on the publishing side.
        public var publisherBackend: Backend?
        /// Takes a link from the browsing machine, and gives it back; nil: it cannot.
        public var browserLink: Backend?
        /// The links that both sides are on, by the browsing side's names.
        public var links: [String]
        /// Both sides are one machine.
        public var isOneMachine: Bool
        /// How many services are many.
        public var crowd: Int
        /// Counts what the engines hold: operations, C objects, whatever must be as before.
        public var openObjects: @Sendable () async throws -> Int

        /// Creates an environment.
        public init(
            publisher: any DiscoveryEngine,
            browser: any DiscoveryEngine,
            limits: DiscoveryLimits = DiscoveryLimits(),
            patience: Duration = .seconds(15),
            browserBackend: Backend? = nil,
            publisherBackend: Backend? = nil,
            browserLink: Backend? = nil,
            links: [String] = ["eth0"],
            isOneMachine: Bool = false,
            crowd: Int = 100,
            openObjects: @escaping @Sendable () async throws -> Int
        ) {
            self.publisher = publisher
            self.browser = browser
            self.limits = limits
            self.patience = patience
            self.browserBackend = browserBackend
            self.publisherBackend = publisherBackend
            self.browserLink = browserLink
            self.links = links
            self.isOneMachine = isOneMachine
            self.crowd = crowd
            self.openObjects = openObjects
        }
    }

    /// A backend that can be stopped and started again; each returns when it is done.
    public struct Backend: Sendable {
        /// Stops it.
        public var stop: @Sendable () async throws -> Void
        /// Starts it again.
        public var start: @Sendable () async throws -> Void

        /// Creates a hand on a backend.
        public init(
            stop: @escaping @Sendable () async throws -> Void,
            start: @escaping @Sendable () async throws -> Void
        ) {
            self.stop = stop
            self.start = start
        }
    }

    /// One thing that every engine must do.
    public struct Check: Sendable, CustomStringConvertible {
        /// What is checked, as a sentence.
        public let description: String
        private let body: @Sendable (Bench) async throws -> Void

        init(_ description: String, _ body: @escaping @Sendable (Bench) async throws -> Void) {
            self.description = description
            self.body = body
        }

        /// Runs the check, and then looks whether anything was left behind.
        /// - Throws: `Failure`, or what the engine threw.
        public func run(_ environment: Environment) async throws {
            let before = try await environment.openObjects()
            try await body(Bench(environment))
            // Operations end in their own time, so the count is waited for.
            let time = SystemTime()
            let deadline = time.now + environment.patience
            while true {
                let after = try await environment.openObjects()
                if after == before { return }
                guard time.now < deadline else {
                    throw Failure("\(after) objects are open after the check, \(before) were before")
                }
                try await time.sleep(until: time.now + .milliseconds(20))
            }
        }
    }

    /// What an engine did not do.
    public struct Failure: Error, CustomStringConvertible {
        /// A sentence.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// All checks.
    public static let checks: [Check] = finding + questions + publishing + facts + restarting
}

public import DNSSD
public import Discovery

/// The contract of every engine, whatever backs it. Each check stands alone and leaves nothing behind.
///
/// ```swift
/// @Test(arguments: EngineConformance.checks) func conforms(_ check: EngineConformance.Check) async throws {
///     try await check.run(environment)
/// }
/// ```
public enum EngineConformance {
    /// Something that not every engine can know; the checks of it are for those that can.
    public enum Capability: Hashable, Sendable, CaseIterable {
        /// Services are seen on interfaces, and looked for on some only.
        case links
        /// Services of this machine are told from those of others.
        case ownership
        /// Its backend can be stopped, and no other check runs meanwhile.
        case restarting
    }

    /// Two engines that see each other, with control over what backs them.
    public struct Environment: Sendable {
        /// The publishing side. May be the same engine as `browser`.
        public var publisher: any DiscoveryEngine
        /// The browsing side.
        public var browser: any DiscoveryEngine
        /// Limits of the checks' networks.
        public var limits: DiscoveryLimits
        /// How long to wait for a single event.
        public var patience: Duration
        /// Controls the browsing side's backend; nil if it cannot be stopped.
        public var browserBackend: Backend?
        /// Controls the publishing side's backend; nil if it cannot be stopped.
        public var publisherBackend: Backend?
        /// Unplugs and restores a link of the browsing machine; nil if that is impossible.
        public var browserLink: Backend?
        /// Where services are published and found.
        public var domain: Domain
        /// What the engines can know.
        public var capabilities: Set<Capability>
        /// The links that both sides share, by the browsing side's names.
        public var links: [String]
        /// Both sides run on one machine.
        public var isOneMachine: Bool
        /// How many services count as many.
        public var crowd: Int
        /// The clock of the checks' networks and of their patience.
        package var time: any TimeSource = SystemTime()
        /// Counts what the engines hold, such as operations and C objects; must return to its earlier value.
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
            domain: Domain = .local,
            capabilities: Set<Capability> = Set(Capability.allCases),
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
            (self.browserLink, self.domain, self.capabilities, self.links) = (browserLink, domain, capabilities, links)
            (self.isOneMachine, self.crowd, self.openObjects) = (isOneMachine, crowd, openObjects)
        }
    }

    /// Controls a backend that a test can stop and start. Each function returns when it is done.
    public struct Backend: Sendable {
        /// Stops the backend.
        public var stop: @Sendable () async throws -> Void
        /// Starts the backend again.
        public var start: @Sendable () async throws -> Void

        /// Creates the controls of a backend.
        public init(
            stop: @escaping @Sendable () async throws -> Void,
            start: @escaping @Sendable () async throws -> Void
        ) {
            self.stop = stop
            self.start = start
        }
    }

    /// One requirement on every engine.
    public struct Check: Sendable, CustomStringConvertible {
        /// The requirement, as a sentence.
        public let description: String
        /// What the engines must be able to know.
        public let needs: Set<Capability>
        private let body: @Sendable (Bench) async throws -> Void

        init(
            _ description: String, needs: Set<Capability> = [], _ body: @escaping @Sendable (Bench) async throws -> Void
        ) {
            (self.description, self.needs, self.body) = (description, needs, body)
        }

        /// Runs the check, then verifies that nothing was left behind.
        /// - Throws: `Failure`, or the engine's error.
        public func run(_ environment: Environment) async throws {
            guard needs.isSubset(of: environment.capabilities) else {
                throw Failure(
                    "the check needs \(needs.subtracting(environment.capabilities)), which the engines have not")
            }
            let before = try await environment.openObjects()
            try await body(Bench(environment))
            // Operations end in their own time, so wait for the count.
            let time = environment.time
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

    /// The requirement that an engine did not meet.
    public struct Failure: Error, CustomStringConvertible {
        /// The failure, as a sentence.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// All checks.
    public static let checks: [Check] = finding + questions + publishing + facts + restarting

    /// The checks that engines with some capabilities must pass.
    public static func checks(with capabilities: Set<Capability>) -> [Check] {
        checks.filter { $0.needs.isSubset(of: capabilities) }
    }
}

extension EngineConformance {
    static let restarting: [Check] = [
        Check("a browser's backend goes and comes back: both are told, nothing is lost", needs: [.restarting]) {
            bench in
            guard let backend = bench.environment.browserBackend else { return }
            try await bench.withPublished(try bench.service("staying")) { _, name in
                var watcher = bench.watch()
                _ = try await watcher.found(name)
                try await watcher.wait(for: "settled") { $0 == .settled ? () : nil }
                try await backend.stop()
                // An outage that is too short is not reported.
                try await watcher.wait(for: "backend lost") { event in
                    if case .backend(.lost) = event { () } else { nil }
                }
                try await backend.start()
                try await watcher.wait(for: "backend recovered") { $0 == .backend(.recovered) ? () : nil }
                // New services appear after the recovery, and those already there were not lost in between.
                try await bench.publisher.withPublished(try bench.service("later")) { later in
                    _ = try await watcher.found(try await later.established())
                }
                let lost = watcher.events.filter { event in
                    if case .lost(let service) = event { service.instance.name == name } else { false }
                }
                try expect(lost.isEmpty, "lost: \(lost)")
            }
        },
        Check("a publisher's backend goes and comes back: the service is established again", needs: [.restarting]) {
            bench in
            guard let backend = bench.environment.publisherBackend else { return }
            try await bench.withPublished(try bench.service("again")) { publication, name in
                var updates = publication.updates.makeAsyncIterator()
                try await backend.stop()
                try await updates.wait(for: "waiting") { if case .waiting = $0.state { true } else { false } }
                try await backend.start()
                try await updates.wait(for: "established again") { $0.state == .established && $0.name == name }
                var watcher = bench.watch()
                _ = try await watcher.found(name)
            }
        },
    ]
}

extension PublicationUpdates.AsyncIterator {
    fileprivate mutating func wait(for what: String, _ isRight: (PublicationStatus) -> Bool) async throws {
        while let status = await next() {
            if isRight(status) { return }
            try EngineConformance.expect(!status.state.isFinal, "it ended: \(status.state)")
        }
        throw EngineConformance.Failure("it ended before it was \(what)")
    }
}

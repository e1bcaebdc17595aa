#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem
internal import HostEngine
internal import Libc

/// Carries an invocation out, with everything around the command: signals, engines, and what its errors mean.
struct Runner {
    private let invocation: Invocation
    private let notices: ProgramNotices
    private let failures: FailureReport
    private let stop: Stop
    private let watcher: Watcher
    private let more: (any MoreSupport)?

    private var needs: CommandNeeds { invocation.needs }

    /// Runs the command in a task while this, the main thread, waits for signals; exits with the command's status.
    static func run(
        _ command: sending any NetworkCommand, hints: [String], with more: (any MoreSupport)?, outputIsOpen: Bool
    ) -> Never {
        let notices = command.output.notices
        var failures = FailureReport(notices: notices, version: command.output.json)
        do {
            let invocation = try Invocation(
                command.needs(), command.common, json: command.output.json, on: .current(with: more))
            failures.isOnStandardError = invocation.needs.isConnection
            // Before there is a thread.
            invocation.becomeMore(failures)
            hints.forEach(notices.hint)
            let ending = invocation.needs.ending
            guard outputIsOpen || !ending.isWhenUnread else { throw CommandError.closedOutput }
            let stop = Stop()
            let watcher = Watcher(
                stop: stop, watchesOutput: ending.isWhenUnread, grace: ending.grace, statusWhenStopped: ending.status)
            try watcher.start()
            let runner = Runner(
                invocation: invocation, notices: notices, failures: failures, stop: stop, watcher: watcher, more: more)
            let task = Task { await runner.run(command) }
            stop.onRequest { task.cancel() }
            Task { ProcessEnd.now(await task.value) }
            watcher.waitForSignals()
        } catch {
            let failure = CommandError(of: error, asking: DomainWish())
            failures.tell(failure)
            exit(failure.status.rawValue)
        }
    }

    private func run(_ command: any NetworkCommand) async -> ExitStatus {
        var contact: Result<ControlClient, CommandError>?
        do {
            do throws(CommandError) {
                contact = try invocation.findDaemon(notices).map { .success($0) }
            } catch {
                guard invocation.daemon == .wanted else { throw error }
                contact = .failure(error)
            }
            return try await execute(command, contact)
        } catch {
            return status(of: error, isAsked: (try? contact?.get()) != nil)
        }
    }

    private func execute(
        _ command: any NetworkCommand, _ contact: Result<ControlClient, CommandError>?
    ) async throws -> ExitStatus {
        let daemon = try? contact?.get()
        let servers = try servers(beside: daemon)
        let terminal = Terminal.current()
        let session = Session(
            invocation: invocation, network: try network(over: daemon, beside: servers),
            // What the daemon keeps warm of the link answers for nothing else.
            contact: servers == nil || needs.domains.others.isEmpty ? contact : nil, servers: servers,
            output: Output(for: terminal, invocation.json ?? .one), notices: notices, stop: stop, watcher: watcher,
            terminal: terminal,
            more: more)
        if let interfaces = needs.interfaces { session.checkInterfaces(interfaces) }
        for breach in needs.types.compactMap(\.breach) {
            notices.notice("\(breach.message); it is looked for all the same")
        }
        let status: ExitStatus
        do {
            status = try await command.execute(in: session)
        } catch {
            await withdraw(from: servers)
            throw error
        }
        await withdraw(from: servers)
        if let failure = stop.failure { throw failure }
        // Skips cleaning up: the backend frees the rest when the process ends.
        do { try session.output.flush() } catch is Output.Unread { return .done }
        return status
    }

    /// Takes back what a zone still has of this process: its host's name, its lease. On the link a goodbye was enough.
    private func withdraw(from servers: DNSEngine?) async {
        guard let servers, needs.domains.publishes else { return }
        // In a task of its own: a stopped command's is cancelled.
        _ = await Task { await servers.engine.shutdown() }.value
    }

    /// What asks DNS servers; nil where the command needs none.
    private func servers(beside daemon: ControlClient?) throws -> DNSEngine? {
        let isAsked =
            switch invocation.servers {
            case .never: false
            case .unlessServed: !(daemon.map(invocation.isServed) ?? false)
            case .always: true
            }
        return isAsked ? try more?.engine(for: needs.domains, notices) : nil
    }

    /// The engines of the command: what finds and publishes on the link, or the daemon, and what asks DNS servers.
    private func network(over daemon: ControlClient?, beside servers: DNSEngine?) throws -> LocalNetwork {
        guard let servers else { return LocalNetwork(engine: try engine(over: daemon)) }
        let engines = [servers.engine] + (needs.domains.isOnlyOthers ? [] : [try engine(over: daemon)])
        return LocalNetwork(engine: EngineRouter(finders: engines, publishers: engines))
    }

    private func engine(over daemon: ControlClient?) throws -> any DiscoveryEngine {
        guard let daemon else {
            let host = try HostEngine(
                invocation.finder, avahi: invocation.avahi, publishes: needs.publishes, isCommand: true)
            if let reason = host.reasonWithoutWire {
                notices.detail("avahi-daemon finds services, for discoverd cannot: \(reason)")
            }
            return host.engine
        }
        let (notices, avahi, isNamed) = (notices, invocation.avahi, invocation.socket != nil)
        return RemoteEngine(path: daemon.path, check: needs.check) {
            notices.notice("the daemon has no connection left for this user (clients-per-user); published without it")
            return try? HostEngine(.avahi, avahi: avahi).engine
        } withoutDaemon: {
            // A daemon named on the command line has no substitute.
            guard !isNamed, let host = try? HostEngine(.auto, publishes: false) else { return nil }
            notices.notice("the daemon is away: services are found without it now")
            return host.engine
        }
    }

    /// The exit status for an error. Reports the error, unless it came from being stopped.
    /// - Parameter isAsked: the daemon is asked.
    private func status(of error: any Error, isAsked: Bool) -> ExitStatus {
        if error is Output.Unread { return .done }
        switch stop.cause {
        case .signal: return needs.ending.status
        case .unread: return .done
        case .programEnded(let status): return status
        case .failed(let failure):
            failures.tell(failure)
            return failure.status
        case .timedOut, .noBackend, nil: break
        }
        var failure = CommandError(of: error, asking: needs.domains)
        if failure.isAboutBackend {
            failure = failure.isAbout(needs.publishes ? "publishes" : "finds")
            failure.advice = isAsked ? BackendAdvice.ofSystem() : BackendAdvice.lines(for: invocation.avahi)
        }
        failures.tell(failure)
        return failure.status
    }
}

extension Invocation {
    /// Becomes `discoverd-daemon` where the command needs it, or ends; returns where this program runs the command: with a daemon that serves
    /// its domains, or without, to say so.
    fileprivate func becomeMore(_ failures: FailureReport) {
        switch program {
        case .this: return
        case .more(let purpose): LargeProgram.become(for: purpose, failures)
        case .moreUnlessServed(let purpose): if !isServedNow { LargeProgram.become(for: purpose, failures) }
        case .moreIfPossible: _ = LargeProgram.become()
        }
    }
}
#endif

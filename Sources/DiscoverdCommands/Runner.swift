#if Commands
internal import ArgumentParser
internal import AvahiEngine
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import Libc
internal import HostEngine

/// Runs a command with everything around it: signals, the backend, and what its errors mean.
enum Runner {
    /// Runs the command in a task while this, the main thread, waits for signals; exits with the command's status.
    static func run(_ command: sending any NetworkCommand, with more: MoreSupport?, outputIsOpen: Bool) -> Never {
        let notices = command.common.notices
        let kind = type(of: command)
        // Before there is a thread.
        if more == nil {
            if command.needsTLS { becomeMore("speaks TLS", notices) }
            if command.needsPage { becomeMore("serves the page", notices) }
            becomeDNS(for: command)
        }
        guard outputIsOpen || !kind.endsWhenUnread else {
            notices.failure(.closedOutput)
            exit(CommandError.closedOutput.status.rawValue)
        }
        let stop = Stop()
        let watcher = Watcher(
            stop: stop,
            watchesOutput: kind.endsWhenUnread,
            grace: kind.grace,
            statusWhenStopped: kind.statusWhenStopped
        )
        do throws(CommandError) {
            try watcher.start()
        } catch {
            notices.failure(error)
            exit(error.status.rawValue)
        }
        let task = Task { () -> ExitStatus in
            var daemon: ControlClient?
            do {
                let backend = try backend(for: command)
                var whyNoDaemon: CommandError?
                do throws(CommandError) {
                    daemon = try DaemonChoice.daemon(for: command)
                } catch {
                    guard kind.daemonUse == .wanted else { throw error }
                    whyNoDaemon = error
                }
                return try await execute(
                    command, on: backend, or: daemon, whyNoDaemon, with: more, stop: stop, watcher: watcher)
            } catch {
                return status(of: error, after: stop.cause, in: command, notices) {
                    daemon == nil
                        ? (try? backend(for: command)).map(BackendAdvice.lines) ?? [] : BackendAdvice.ofSystem()
                }
            }
        }
        stop.onRequest { task.cancel() }
        Task { exit(await task.value.rawValue) }
        watcher.waitForSignals()
    }

    private static func execute(
        _ command: any NetworkCommand,
        on backend: AvahiBackend,
        or daemon: ControlClient?,
        _ whyNoDaemon: CommandError?,
        with more: MoreSupport?,
        stop: Stop,
        watcher: Watcher
    ) async throws -> ExitStatus {
        let dns = more?.dns
        let terminal = Terminal.current()
        let wish = command.wish
        let servesAll = daemon.map { DaemonChoice.serves($0, wish) } ?? false
        let own = try servesAll ? nil : ownEngine(for: command, with: dns)
        // What the daemon keeps warm of the link answers for nothing else.
        let isUnicast = wish.isOnlyOthers
        let session = Session(
            network: try network(over: daemon, or: backend, beside: own, for: command, stop),
            daemon: own == nil || wish.others.isEmpty ? daemon : nil,
            whyNoDaemon: whyNoDaemon,
            output: Output(for: terminal),
            notices: command.common.notices,
            stop: stop,
            watcher: watcher,
            terminal: terminal,
            json: command.common.json,
            patience: isUnicast
                ? .milliseconds(200)
                : backend != .system && AvahiBackend.canBePrivate
                    ? Session.privateBackendPatience : Session.backendPatience,
            silence: isUnicast ? Session.serverPatience : Session.silencePatience,
            namedDomains: (own?.configured ?? []).union(wish.others),
            isUnicast: isUnicast,
            servers: wish.isOptional ? own.map { (LocalNetwork(engine: $0.engine), $0.resolvers) } : nil,
            dns: dns,
            tls: more?.tls,
            page: more?.page
        )
        if let place = (command as? any PlacedCommand)?.place { try session.checkInterfaces(place.interfaces()) }
        for breach in command.sought.compactMap(\.breach) {
            session.notices.notice("\(breach.message); it is looked for all the same")
        }
        let status: ExitStatus
        do {
            status = try await command.execute(in: session)
        } catch {
            await withdraw(from: own, command)
            throw error
        }
        await withdraw(from: own, command)
        if let failure = stop.failure { throw failure }
        // Skips cleaning up: the backend frees the rest when the process ends.
        do { try session.output.flush() } catch is Output.Unread { return .done }
        return status
    }

    /// Takes back what a zone still has of this process: its host's name, its lease. On the link a goodbye was enough.
    private static func withdraw(from own: DNSSupport.Engine?, _ command: any NetworkCommand) async {
        guard let own, command.wish.publishes else { return }
        // In a task of its own: a stopped command's is cancelled.
        _ = await Task { await own.engine.shutdown() }.value
    }

    private static func backend(for command: any NetworkCommand) throws -> AvahiBackend {
        let options = PrivateBackendOptions(
            interfaces: try (command as? any PlacedCommand)?.place.interfaces() ?? .all,
            passesOutput: command.common.verbose
        )
        return switch command.common.backend {
        case .system: .system
        case .private: .private(options)
        case .auto: type(of: command).asksAvahi ? .system : .automatic(options)
        }
    }

    /// Becomes `discoverd-dns` where the command is about domains that need it; returns where this program does it: with a daemon
    /// that serves them, or without, to say so.
    private static func becomeDNS(for command: any NetworkCommand) {
        let wish = command.wish
        guard wish.isOptional ? SiblingProgram.dns.isInstalled : !wish.others.isEmpty, command.needsDaemon == nil else {
            return
        }
        if !wish.isSpecial, !wish.isOptional, let daemon = DaemonChoice.daemonNow(for: command),
            DaemonChoice.serves(daemon, wish)
        {
            return
        }
        let domain = wish.others.first.map { " about \($0)" } ?? ""
        becomeMore("asks DNS servers\(domain)", command.common.notices, isOptional: wish.isOptional)
    }

    /// Becomes `discoverd-dns`; returns where it is optional and not there.
    private static func becomeMore(_ purpose: String, _ notices: ProgramNotices, isOptional: Bool) {
        let failure = SiblingProgram.dns.become()
        if !isOptional { refuse(failure, purpose, notices) }
    }

    /// Becomes `discoverd-dns`, or ends.
    static func becomeMore(_ purpose: String, _ notices: ProgramNotices) -> Never {
        refuse(SiblingProgram.dns.become(), purpose, notices)
    }

    private static func refuse(_ failure: CommandError, _ purpose: String, _ notices: ProgramNotices) -> Never {
        notices.failure(
            CommandError(failure.status, "\(failure.message), which \(purpose)", advice: failure.advice))
        exit(failure.status.rawValue)
    }

    /// The engine of other domains than the link's; nil where the command needs none.
    private static func ownEngine(
        for command: any NetworkCommand, with dns: DNSSupport?
    ) throws -> DNSSupport.Engine? {
        let wish = command.wish
        let kind = type(of: command)
        guard let dns, !kind.asksAvahi, kind.daemonUse == .ifPresent, command.needsDaemon == nil,
            wish.isOptional || !wish.others.isEmpty
        else { return nil }
        return try dns.engine(wish, command.common.notices)
    }

    /// The engines of a command: what finds and publishes on the link, or the daemon, and what asks DNS servers.
    private static func network(
        over daemon: ControlClient?,
        or backend: AvahiBackend,
        beside own: DNSSupport.Engine?,
        for command: any NetworkCommand,
        _ stop: Stop
    ) throws -> LocalNetwork {
        guard let own else { return LocalNetwork(engine: try engine(over: daemon, or: backend, for: command, stop)) }
        var engines: [any DiscoveryEngine] = [own.engine]
        if !command.wish.isOnlyOthers { engines.append(try engine(over: daemon, or: backend, for: command, stop)) }
        return LocalNetwork(engine: EngineRouter(finders: engines, publishers: engines))
    }

    private static func engine(
        over daemon: ControlClient?,
        or backend: AvahiBackend,
        for command: any NetworkCommand,
        _ stop: Stop
    ) throws -> any DiscoveryEngine {
        guard let daemon else {
            let kind = type(of: command)
            let finder = kind.asksAvahi || command.publishes ? .avahi : command.common.finder
            let host = try HostEngine(finder, backend: backend, publishes: command.publishes) {
                stop.request(.failed(.backendEnded($0)))
            }
            if let reason = host.reasonWithoutWire {
                command.common.notices.detail("avahi-daemon finds services, for the wire cannot: \(reason)")
            }
            return host.engine
        }
        let notices = command.common.notices
        let isNamed = command.common.socket != nil
        return RemoteEngine(path: daemon.path, check: command.check) {
            notices.notice("the daemon has no connection left for this user (clients-per-user); published without it")
            return try? AvahiEngine(backend: backend)
        } withoutDaemon: {
            // A daemon named on the command line has no substitute.
            guard !isNamed, let host = try? HostEngine(.auto, publishes: false) else { return nil }
            notices.notice("the daemon has been away for 5 s: services are found without it now")
            return host.engine
        }
    }

    /// The exit status for an error. Reports the error, unless it came from being stopped.
    private static func status(
        of error: any Error,
        after cause: Stop.Cause?,
        in command: any NetworkCommand,
        _ notices: ProgramNotices,
        advice: () -> [String]
    ) -> ExitStatus {
        if error is Output.Unread { return .done }
        switch cause {
        case .signal: return type(of: command).statusWhenStopped
        case .unread: return .done
        case .programEnded(let status): return status
        case .failed(let failure):
            notices.failure(failure)
            return failure.status
        case .timedOut, .noBackend, nil: break
        }
        var failure =
            (error as? CommandError) ?? (error as? DiscoveryError).map { CommandError($0, asking: command.wish) }
            ?? (error as? ControlError).map { CommandError($0) }
            ?? CommandError(.systemError, String(describing: error))
        if failure.isAboutBackend { failure.advice = advice() }
        notices.failure(failure)
        return failure.status
    }
}
#endif

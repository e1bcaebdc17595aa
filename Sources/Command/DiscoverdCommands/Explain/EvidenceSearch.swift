#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoverySystem
internal import Libc
internal import MulticastEngine

/// Gathers the evidence about a name: from the wire, from avahi-daemon, by connections.
struct EvidenceSearch: Sendable {
    let interfaces: InterfaceFilter
    let family: IPAddress.Family?
    /// How long all of it may take.
    let limit: Duration
    /// What may be dialled; nil: nothing.
    let policy: AddressPolicy?
    let capture: PacketCaptureFile?

    /// What is asked for, as far as the links show.
    private struct Named: Sendable {
        let target: ExplainTarget
        var subject: InquirySubject
        /// What else there is, where that was asked.
        var census: NameCensus?
        /// The word, where no one has it.
        var unknownWord: String?
    }

    /// - Throws: where the system has no thread, or the target is wrong.
    func run(_ target: ExplainTarget) async throws -> Evidence {
        var named = try await BlockingThread.value { try name(target, until: $0) }
        if let word = named.unknownWord, !Task.isCancelled,
            let listed = await ListedServices.find(word, on: interfaces, over: family)
        {
            (named.subject, named.unknownWord) = (.service(listed), nil)
        }
        var evidence = try await BlockingThread.value { [named] in askLinks(named, until: $0) }
        await askOthers(&evidence)
        evidence.isInterrupted = Task.isCancelled
        return evidence
    }

    /// Asks avahi-daemon, and dials; ends early where the task is cancelled.
    private func askOthers(_ evidence: inout Evidence) async {
        guard !Task.isCancelled else { return }
        if evidence.inquiry.answers.isEmpty { await lookFurther(&evidence) }
        evidence.cached = await CachedServices.ask(evidence.subject, on: interfaces, over: family)
        if Explanation(evidence).diagnoses.contains(where: { $0.code == .avahiDiffers }) {
            // What a goodbye ends is kept for a second (RFC 6762 §10.1).
            try? await Task.sleep(for: .milliseconds(1200))
            evidence.cached = await CachedServices.ask(evidence.subject, on: interfaces, over: family)
        }
        guard !Task.isCancelled else { return }
        let (local, routes) = (LocalAddresses.system(), SystemRoutes())
        if let policy {
            evidence.destinations = evidence.endpoints.map { endpoint in
                Evidence.Destination(
                    endpoint: endpoint,
                    refusal: policy.refusal(of: endpoint, isOwn: evidence.isOwn, local: local, routes: routes))
            }
            if case .service(let instance) = evidence.subject, instance.type.transport == .tcp {
                let attempts = await ConnectionTrial.run(
                    evidence.destinations.filter { $0.refusal == nil }.map(\.endpoint), within: limit * 2 / 5)
                // A connection that is given up looks like one that takes too long.
                if !Task.isCancelled { evidence.attempts = attempts }
            }
        }
    }

    /// No one answers: whether this machine hears itself and its own responder, whether the other family is answered, and what the daemon lists.
    private func lookFurther(_ evidence: inout Evidence) async {
        let subject = evidence.subject
        let avahi = SystemResponder.all.first(where: \.isAvahi)
        let own = avahi == nil ? [] : evidence.ownAddresses.filter { !$0.isLoopback }.sorted()
        let isHeard = evidence.deaf.isEmpty && !evidence.links.isEmpty && evidence.refusals.isEmpty
        async let trial =
            isHeard
            ? try? BlockingThread.value { ask(LinkTrial(own: own, neighbours: nil), over: family, until: $0) } : nil
        async let other =
            otherFamily == nil
            ? nil : try? BlockingThread.value { ask(NameInquiry(subject), over: otherFamily, until: $0) }
        if case .service(let instance) = subject {
            evidence.isListedByDaemon = await ListedServices.daemonHas(instance, on: interfaces, over: family)
        }
        if let trial = await trial {
            evidence.isEchoed = trial.isEchoed
            if trial.isEchoed, !trial.hasOwnAnswer { evidence.silentResponder = avahi?.description }
        }
        if let otherFamily, let heard = await other?.answers, !heard.isEmpty {
            evidence.otherFamily = (otherFamily, Set(heard.map(\.arrival.sender)).sorted { "\($0)" < "\($1)" })
        }
    }

    /// The family that was not asked for.
    private var otherFamily: IPAddress.Family? { family.map { $0 == .ipv4 ? .ipv6 : .ipv4 } }

    private func links(over family: IPAddress.Family?) -> LinkInquiry {
        LinkInquiry(on: interfaces, over: family) { [capture] in capture?.add($0) }
    }

    /// Blocks.
    private func ask<Asked: Inquirer>(
        _ inquirer: Asked, over family: IPAddress.Family?, until isOver: () -> Bool
    ) -> Asked {
        var inquirer = inquirer
        links(over: family).run(&inquirer, within: limit / 4, until: isOver)
        return inquirer
    }

    /// Asks the links what a word means. Blocks.
    private func name(_ target: ExplainTarget, until isOver: () -> Bool) throws -> Named {
        switch target {
        case .subject(let known): return Named(target: target, subject: known)
        case .word(let word):
            var census = try ExplainTarget.census(of: word)
            links(over: family).run(&census, within: limit * 2 / 5, until: isOver)
            let usual = try ExplainTarget.usual(word)
            var subject = try ExplainTarget.subject(of: word, in: census)
            if subject == usual, let otherFamily {
                let others = try ask(ExplainTarget.census(of: word), over: otherFamily, until: isOver)
                subject = try ExplainTarget.subject(of: word, in: others)
            }
            return Named(target: target, subject: subject, census: census, unknownWord: subject == usual ? word : nil)
        }
    }

    /// Asks the links for the name, and for what else there is where no one has it. Blocks.
    private func askLinks(_ named: Named, until isOver: () -> Bool) -> Evidence {
        let inquiry = links(over: family)
        var name = NameInquiry(named.subject)
        let isWhole = inquiry.run(&name, within: limit * 3 / 5, until: isOver)
        var evidence = Evidence(name)
        evidence.isCut = !isWhole
        evidence.census = named.census
        evidence.links = inquiry.links
        evidence.ownAddresses = inquiry.ownAddresses
        if name.answers.isEmpty, name.heard.isEmpty { evidence.unknownWord = named.unknownWord }
        evidence.isOwnHost = ExplainTarget.isOwnHost(named.target)
        evidence.deaf = Set(inquiry.links.map(\.interface)).subtracting(inquiry.hearing)
        if !evidence.deaf.isEmpty {
            evidence.holders = PortHolder.holders(of: PortHolder.multicastDNS).map(\.description)
        }
        evidence.refusals = inquiry.refusals.filter { !inquiry.sent.contains($0.key) }
        if name.answers.isEmpty, !inquiry.links.isEmpty {
            let holders = PortHolder.holders(of: PortHolder.multicastDNS)
            evidence.hasResponder = holders.contains { $0.process != getpid() }
            var direct = DirectInquiry(named.subject, of: Neighbours.all())
            inquiry.run(&direct, within: limit / 10, until: isOver)
            evidence.direct = direct.answers
            if named.census == nil, direct.answers.isEmpty {
                var asked = NameCensus()
                inquiry.run(&asked, within: limit / 4, until: isOver)
                evidence.census = asked
            }
        }
        evidence.faults = inquiry.faults
        return evidence
    }
}

/// What avahi-daemon knows of a service.
enum CachedServices {
    /// What it has it tells within milliseconds of the connection.
    private static let limit = Duration.milliseconds(500)

    static func ask(
        _ subject: InquirySubject, on interfaces: InterfaceFilter, over family: IPAddress.Family?
    ) async -> Set<Evidence.CachedService> {
        guard case .service(let instance) = subject, let avahi = try? AvahiEngine() else { return [] }
        let query = ServiceQuery(.instance(instance), interfaces: interfaces, family: family, resolution: .once)
        let known = Locked(Set<Evidence.CachedService>())
        let isOver = Gate()
        let operation = avahi.browse(query) { facts in
            for fact in facts {
                switch fact {
                case .resolved(let resolution):
                    guard let interface = resolution.origin.interface, let target = resolution.targets.first else {
                        continue
                    }
                    let service = Evidence.CachedService(interface: interface, host: target.host, port: target.port)
                    known.withLock { _ = $0.insert(service) }
                case .listed, .backend(.down): isOver.open()
                default: break
                }
            }
        }
        _ = await isOver.wait(atMost: limit)
        operation.cancel()
        // Released before, it would not report.
        withExtendedLifetime(avahi) {}
        return known.withLock { $0 }
    }
}

/// Hosts that this machine has exchanged packets with.
enum Neighbours {
    /// The IPv4 addresses that the kernel knows a hardware address of (proc_net_arp: address, type, flags; 2 is complete).
    /// - Parameter interface: those on this one; nil: on all.
    static func all(on interface: String? = nil) -> [IPAddress] {
        parse(SystemFile.lines(of: "/proc/net/arp") ?? [], on: interface)
    }

    static func parse(_ lines: [String], on interface: String? = nil) -> [IPAddress] {
        lines.dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 2, fields[2] == "0x2", interface == nil || fields.last.map(String.init) == interface
            else { return nil }
            return IPAddress(String(fields[0]))
        }
    }
}

/// Connects to every address of a service, to say which answer; nothing is sent.
enum ConnectionTrial {
    /// The most addresses that are dialled.
    private static let most = 8

    /// Dials all at the same time.
    /// - Returns: what came of each, in their order.
    static func run(_ endpoints: [Endpoint], within limit: Duration) async -> [Evidence.Attempt] {
        await withTaskGroup(of: (Int, Evidence.Attempt).self) { group in
            for (position, endpoint) in endpoints.prefix(most).enumerated() {
                group.addTask { (position, await attempt(endpoint, within: limit)) }
            }
            var attempts: [(Int, Evidence.Attempt)] = []
            for await attempt in group { attempts.append(attempt) }
            return attempts.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func attempt(_ endpoint: Endpoint, within limit: Duration) async -> Evidence.Attempt {
        let start = ContinuousClock.now
        let (failure, code): (DialFailure?, Int32) = await withTimeLimit(limit) {
            do {
                try await SocketDialer.connected(to: endpoint).close()
                return (nil, 0)
            } catch let error as SystemError {
                return (SocketDialer.failure(error.code), error.code)
            } catch let failure as DialFailure {
                return (failure, 0)
            } catch {
                return (DialFailure(.timeout, "no answer"), 0)
            }
        }
        return Evidence.Attempt(
            endpoint: endpoint, outcome: failure?.outcome ?? .connected, reason: failure?.reason,
            hasNoRoute: [EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN].contains(code),
            milliseconds: (ContinuousClock.now - start).milliseconds)
    }
}
#endif

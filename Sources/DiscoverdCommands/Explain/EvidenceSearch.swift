#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import Libc
internal import MulticastEngine
internal import DiscoverySystem

/// Gathers the evidence about a name: from the wire, from avahi-daemon, by connections.
struct EvidenceSearch: Sendable {
    let interfaces: InterfaceFilter
    let family: IPAddress.Family?
    /// How long all of it may take.
    let limit: Duration
    /// What may be dialled; nil: nothing.
    let policy: AddressPolicy?
    let capture: PacketCaptureFile?

    /// - Throws: where the system has no thread, or the target is wrong.
    func run(_ target: ExplainTarget) async throws -> Evidence {
        let isOver = Locked(false)
        var evidence = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Evidence, any Error>) in
                do throws(CommandError) {
                    try BlockingThread.start {
                        continuation.resume(with: Result { try askLinks(target) { isOver.withLock { $0 } } })
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            isOver.withLock { $0 = true }
        }
        await askOthers(&evidence)
        evidence.isInterrupted = Task.isCancelled
        return evidence
    }

    /// Asks avahi-daemon, and dials; ends early where the task is cancelled.
    private func askOthers(_ evidence: inout Evidence) async {
        guard !Task.isCancelled else { return }
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

    /// Asks the links: what a word means, the name, and what else there is where no one has it. Blocks.
    private func askLinks(_ target: ExplainTarget, until isOver: () -> Bool) throws -> Evidence {
        let inquiry = LinkInquiry(on: interfaces, over: family) { [capture] in capture?.add($0) }
        var census: NameCensus?
        var isUnknown = false
        let subject: InquirySubject
        switch target {
        case .subject(let known): subject = known
        case .word(let word):
            var asked = try ExplainTarget.census(of: word)
            inquiry.run(&asked, within: limit * 2 / 5, until: isOver)
            subject = try ExplainTarget.subject(of: word, in: asked)
            census = asked
            isUnknown = subject == (try ExplainTarget.usual(word))
        }
        var name = NameInquiry(subject)
        let isWhole = inquiry.run(&name, within: limit * 3 / 5, until: isOver)
        var evidence = Evidence(name)
        evidence.isCut = !isWhole
        evidence.census = census
        evidence.links = inquiry.links
        evidence.ownAddresses = inquiry.ownAddresses
        if isUnknown, name.answers.isEmpty, name.heard.isEmpty, case .word(let word) = target {
            evidence.unknownWord = word
        }
        evidence.isOwnHost = ExplainTarget.isOwnHost(target)
        evidence.deaf = Set(inquiry.links.map(\.interface)).subtracting(inquiry.hearing)
        if !evidence.deaf.isEmpty {
            evidence.holders = PortHolder.holders(of: PortHolder.multicastDNS).map(\.description)
        }
        evidence.refusals = inquiry.refusals.filter { !inquiry.sent.contains($0.key) }
        if name.answers.isEmpty, !inquiry.links.isEmpty {
            let holders = PortHolder.holders(of: PortHolder.multicastDNS)
            evidence.hasResponder = holders.contains { $0.process != getpid() }
            var direct = DirectInquiry(subject, of: Neighbours.all())
            inquiry.run(&direct, within: limit / 10, until: isOver)
            evidence.direct = direct.answers
            if census == nil, direct.answers.isEmpty {
                var asked = NameCensus()
                inquiry.run(&asked, within: limit / 4, until: isOver)
                evidence.census = asked
            }
        }
        evidence.faults = inquiry.faults
        return evidence
    }
}

/// What avahi-daemon has of a service.
enum CachedServices {
    static func ask(
        _ subject: InquirySubject, on interfaces: InterfaceFilter, over family: IPAddress.Family?
    ) async -> Set<Evidence.CachedService> {
        guard case .service(let instance) = subject, let avahi = try? AvahiEngine(backend: .system) else { return [] }
        let query = ServiceQuery(.instance(instance), interfaces: interfaces, family: family)
        let operation = Locked<(any EngineOperation)?>(nil)
        let found: [Sighting: Resolution] = await withCheckedContinuation { continuation in
            let started = avahi.lookUpInCache(instance, for: query) { continuation.resume(returning: $0) }
            operation.withLock { $0 = started }
        }
        // Released before, neither would report.
        withExtendedLifetime((avahi, operation)) {}
        return Set(
            found.compactMap { sighting, resolution in
                guard let interface = sighting.origin.interface, let target = resolution.targets.first else {
                    return nil
                }
                return Evidence.CachedService(interface: interface, host: target.host, port: target.port)
            })
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
#endif

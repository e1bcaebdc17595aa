import DNSMessage
public import DNSSD
public import Discovery
import DiscoverySystem
import Records

/// Multicast DNS on the wire: queries this machine's links itself, and answers there for what is published, sharing UDP port 5353 with
/// avahi-daemon (RFC 6762 §15.1).
///
/// It needs no privileges, no D-Bus and no other program. The finder's sockets on port 5353 never ask for unicast answers, and are
/// bound to the multicast group: unicast packets to that port stay with the machine's other responders. Only a silent name
/// that someone waits for is also asked for from a port of its own (RFC 6762 §5.1). The publisher hears unicast packets where no other
/// program does.
public final class MulticastEngine: ServiceFinder, ServicePublisher {
    private let loop: EventLoop
    private let core: LoopBound<QuerierCore>
    private let responder: LoopBound<ResponderCore>
    private let numbers = Locked<UInt64>(0)
    private let noted: Locked<[String]>
    private let nameInUse: Locked<MachineName?>

    /// Starts the engine's thread. Sockets open with the first query. Lists that are asked for in the next 10 s, in the 10 s after a change of links
    /// or a sleep, and in the first two minutes of the machine, wait for 20 to 120 ms (RFC 6762 §5.2).
    /// - Throws: `.systemRefused` if the system has no thread or file descriptor left; `.backendUnavailable` if another
    ///   program holds port 5353 exclusively, or avahi-daemon is configured to.
    public init() throws(DiscoveryError) {
        let settings = ResponderSettings.current
        guard !settings.disallowsOthers else {
            let text =
                "avahi-daemon wants UDP port 5353 for itself (disallow-other-stacks=yes in \(ResponderSettings.path))"
            throw DiscoveryError(.backendUnavailable, text)
        }
        try Self.tryPort()
        let noThread = DiscoveryError(.systemRefused, "no thread or no file descriptor is left for multicast DNS")
        guard let loop = EventLoop(paused: "mdns") else { throw noThread }
        self.loop = loop
        guard let core = QuerierCore(loop: loop, settings) else { throw noThread }
        guard let responder = ResponderCore(loop: loop) else { throw noThread }
        noted = core.troubles
        nameInUse = responder.nameInUse
        self.core = LoopBound(to: loop, core)
        self.responder = LoopBound(to: loop, responder)
        guard loop.start() else { throw noThread }
    }

    /// A person has started this: lists do not wait because the engine is new. To be called before anything is asked.
    package func isOfCommand() { core.post { $0.isOfCommand() } }

    deinit {
        core.post { $0.endAll() }
        responder.post { [loop] in $0.endAll { loop.stop() } }
    }

    /// True for `local` alone: multicast DNS has no other domain (RFC 6762 §3).
    public func finds(in domain: Domain) -> Bool { domain == .local }

    /// Limits above the defaults: a link's list takes about a second of work and a few kilobytes per service.
    public func limits(in domain: Domain) -> DiscoveryLimits {
        var limits = DiscoveryLimits()
        limits.services = Self.services
        return limits
    }

    /// The most services kept for one query.
    private static let services = 20_000

    /// Follows the engine's state; it is up for its whole life.
    public func watchState(_ reporting: @escaping @Sendable (EngineState) -> Void) -> any EngineOperation {
        SingleReport { reporting(.up) }
    }

    /// Browses or resolves on every link that the query allows; see `ServiceFinder`.
    public func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        start {
            BrowseOperation(
                interfaces: query.interfaces, family: query.family, make: { ServiceGraph(query, on: $0) },
                report: reporting)
        }
    }

    /// Browses for service types (RFC 6763 §9); see `ServiceFinder`.
    public func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation {
        start {
            BrowseOperation(
                interfaces: query.interfaces, family: query.family,
                make: { ListGraph<TypeKey>(typesIn: query.domain, at: .link($0)) }, report: reporting)
        }
    }

    /// Browses for domains (RFC 6763 §11); see `ServiceFinder`.
    public func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        let label = query.purpose == .browsing ? "b" : "r"
        let name = DomainName([label, "_dns-sd", "_udp"], in: .local)
        return start {
            BrowseOperation(
                interfaces: query.interfaces, family: nil,
                make: { interface in name.map { ListGraph($0, on: interface) { Domain(labels: $0.labels) } } },
                report: reporting)
        }
    }

    /// Asks again for the records of a service that could not be reached. Unanswered, they are forgotten after 10 s
    /// (RFC 6762 §10.4).
    public func couldNotReach(_ instance: ServiceInstance) {
        guard let name = DomainName(instance) else { return }
        core.post { $0.reconfirm(name) }
    }

    /// Answers whether another host said a moment ago, to whoever asks here, that it has a service.
    package func isOthers(
        _ instance: ServiceInstance, on interfaces: InterfaceFilter, answer: @escaping @Sendable (Bool) -> Void
    ) {
        guard let name = DomainName(instance) else { return answer(false) }
        let own = Environment.hostLabel.flatMap { DomainName([$0], in: .local) }
        core.post { answer($0.isOthers(name, own: own, on: interfaces)) }
    }

    /// Opens the desk for requests of records; another that is open stays, and this one answers nothing.
    /// - Parameter report: gets answers with their tickets, on the engine's thread.
    package func openDesk(
        report: @escaping @Sendable ([(ticket: UInt64, answer: DeskAnswer)]) -> Void
    ) -> RecordDesk {
        let id = nextNumber()
        core.post { $0.openDesk(id: id, report) }
        return RecordDesk { [core] in core.post($0) }
    }

    /// Reasons why answers are incomplete now.
    public var troubles: [String] { noted.withLock { $0 } }

    /// Ends all operations, closes the sockets, and ends the thread.
    @discardableResult
    public func shutdown() async -> Bool {
        let gate = Gate()
        core.post { $0.endAll() }
        responder.post { [loop] in $0.endAll { loop.stop { gate.open() } } }
        return await gate.wait(atMost: .seconds(2))
    }

    /// Operations, sockets and questions that are asked again and again, for tests that look for leaks.
    package var openObjects: Int {
        get async {
            let published = await withCheckedContinuation { continuation in
                responder.post { continuation.resume(returning: $0.openObjects) }
            }
            return await withCheckedContinuation { continuation in
                core.post { continuation.resume(returning: published + $0.openObjects) }
            }
        }
    }

    /// Why a socket cannot be created on an interface; nil if it can.
    private static func refusal(on interface: NetworkInterface, _ family: IPAddress.Family) -> SocketError? {
        do throws(SocketError) {
            _ = try LinkSocket(on: interface, family, .others, for: .querier(wantsTTL255: false))
            return nil
        } catch {
            return error
        }
    }

    /// Binds a socket on each link, which shows whether the port can be shared.
    private static func tryPort() throws(DiscoveryError) {
        let all = LinkWish(interfaces: .all, families: IPAddress.Family.both)
        let tried = LinkSelection(SystemInterfaces.usable(by: .all), [all]).links.flatMap { interface, wanted in
            wanted.families.map { ($0, refusal(on: interface, $0)) }
        }
        guard SharedPort.isTaken(tried.map { (family: $0.0, isTaken: $0.1?.isPortTaken == true) }),
            let error = tried.compactMap(\.1).first(where: \.isPortTaken)
        else { return }
        throw DiscoveryError(.backendUnavailable, error.message)
    }

    private func nextNumber() -> UInt64 {
        numbers.withLock { number in
            number += 1
            return number
        }
    }

    private func start(_ make: @escaping @Sendable () -> any QuerierOperation) -> any EngineOperation {
        let id = nextNumber()
        core.post { $0.start(make(), id: id) }
        // It keeps the engine alive.
        return Ending(
            { [self] in core.post { $0.end(id: id) } },
            waiting: { [self] limit in
                await Gate.opens(within: limit) { gate in
                    core.post { core in
                        core.end(id: id)
                        gate.open()
                    }
                }
            })
    }
}

// Publishing.
extension MulticastEngine {
    /// This machine's name on its links.
    package struct MachineName: Hashable, Sendable {
        package let name: String
        /// The one that it would have, had no other host that one.
        package let wanted: String

        package init(name: String, wanted: String) { (self.name, self.wanted) = (name, wanted) }
    }

    /// The name under which this process publishes; nil where it publishes nothing.
    package var machineName: MachineName? { nameInUse.withLock(\.self) }

    /// True for `local` alone: only there may any host answer (RFC 6762 §3).
    public func publishes(in domain: Domain) -> Bool { domain == .local }

    /// Claims the service's name on every link that the service allows, answers for it, and withdraws it when the operation ends; see
    /// `ServicePublisher`.
    public func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        publish(service, onConflict: onConflict, isPersistent: isPersistent, isProven: false, reporting: reporting)
    }

    /// - Parameter isProven: this machine had the name a moment ago, with the same records: it is announced without probes.
    package func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool, isProven: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        guard service.domain == .local else {
            let text = "multicast DNS has the domain local alone, not \(service.domain)"
            return SingleReport {
                reporting(PublicationFact(name: service.name, state: .failed(DiscoveryError(.invalidDomain, text))))
            }
        }
        let number = nextNumber()
        responder.post { core in
            let registration = Registration(
                of: service, policy: onConflict, isPersistent: isPersistent,
                silence: "other hosts have contested")
            core.start(
                WirePublication(
                    service, registration, number: number, isProven: isProven, report: reporting))
        }
        // It keeps the engine alive.
        return Ending(
            { [self] in responder.post { $0.end(number) {} } },
            quietly: { [self] in responder.post { $0.endQuietly(number) } },
            waiting: { [self] limit in
                await Gate.opens(within: limit) { gate in responder.post { $0.end(number) { gate.open() } } }
            },
            change: { [self] port, txt in responder.post { $0.update(number, port: port, txt: txt) } })
    }
}

/// The settings of avahi-daemon that matter to a program that shares its port, or publishes through it (avahi-daemon.conf(5)).
package struct ResponderSettings: Equatable {
    /// The path of avahi-daemon's configuration.
    package static let path = "/etc/avahi/avahi-daemon.conf"
    /// The longest configuration that is read, in bytes.
    private static let limit = 1 << 20

    private var values: [String: String] = [:]

    /// If we started first, avahi-daemon would do without IPv4.
    package var disallowsOthers: Bool { isOn("disallow-other-stacks") == true }
    /// Ignores packets that a router forwarded.
    package var checksTTL: Bool { isOn("check-response-ttl") == true }
    /// This machine repeats what others send, so a packet from it need not be its own.
    package var reflects: Bool { isOn("enable-reflector") == true }

    /// Reads the text of a configuration; of a repeated setting, the last counts.
    package init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            // A comment is a setting that nobody asks for.
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
            if parts.count == 2 { values[parts[0].lowercased()] = parts[1] }
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// The value of a setting; nil where nothing is said of it.
    package subscript(key: String) -> String? { values[key] }

    /// Whether a setting is on; nil where nothing is said of it. avahi-daemon looks at the first letter.
    package func isOn(_ key: String) -> Bool? {
        values[key].map { value in value.first.map { "yYtT1".contains($0) } ?? false }
    }

    /// This machine's settings; nil if they cannot be read.
    package static var read: ResponderSettings? {
        SystemFile.text(of: path, atMost: limit).map { ResponderSettings($0) }
    }

    /// This machine's settings; the defaults if they cannot be read.
    package static var current: ResponderSettings { read ?? ResponderSettings("") }
}

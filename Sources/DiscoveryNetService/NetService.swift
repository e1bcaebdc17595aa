public import DNSSD
public import Discovery
public import Foundation

/// A service of the network, by Foundation's old name: one of this machine that is published, or one that is resolved
/// and connected to.
///
/// It belongs to one thread: use it where its run loop runs (`schedule(in:forMode:)`), where its delegate is called too.
/// Dropping the last reference withdraws what it published. New code is shorter with `LocalNetwork`.
open class NetService: NSObject {
    /// How to publish.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Creates options from bits; unknown ones have no effect.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A taken name is an error (`collisionError`) instead of a reason to take the next one.
        public static let noAutoRename = Options(rawValue: 1 << 0)
        /// Listens for TCP connections; each is given to the delegate. Port 0 takes a free one.
        public static let listenForConnections = Options(rawValue: 1 << 1)
    }

    /// Who is told; not kept alive.
    open weak var delegate: (any NetServiceDelegate)?
    /// Has no effect: there is no peer-to-peer Wi-Fi of this kind on Linux.
    open var includesPeerToPeer = false

    /// The domain as it was given; `local.` of a service that was found.
    public let domain: String
    /// The type as it was given; with a final dot of a service that was found.
    public let type: String
    /// The name: after publishing the one that the service really has.
    public internal(set) var name: String
    /// The port, or -1 while it is not known.
    public internal(set) var port: Int
    /// The host with a final dot, as `h1.local.`; nil until it is resolved.
    public internal(set) var hostName: String?
    /// Every address as `sockaddr_in` or `sockaddr_in6`, link-local ones with their scope; nil until it is resolved.
    public internal(set) var addresses: [Data]?
    /// What was found by resolving, with interfaces; the library's value of it.
    public internal(set) var resolved: DiscoveredService?
    /// Why the last thing failed, in words; the dictionaries of Foundation have room for numbers only.
    public internal(set) var failure: DiscoveryError?
    /// The network that is asked: avahi-daemon's of this machine, or another one that is set before anything is done.
    public var network: LocalNetwork {
        get { givenNetwork ?? SharedNetwork.network }
        set { givenNetwork = newValue }
    }

    /// What goes on, with the number that its events carry.
    enum Activity { case none, publishing(UInt64, Publisher), resolving(UInt64) }

    var activity = Activity.none
    var lastActivity: UInt64 = 0
    /// Carries the activity out; the next one waits for its end.
    var task: Task<Void, Never>?
    var monitor: Task<Void, Never>?
    /// Counts the monitors, so that what is still on its way from one that was stopped is dropped.
    var lastMonitor: UInt64 = 0
    var txt: TXTRecord?
    let delivery = RunLoopDelivery.scheduled()
    private var givenNetwork: LocalNetwork?
    /// What was found, whose name may be one that cannot be published.
    private let found: ServiceInstance?

    /// A service to publish, or with port -1 one to resolve. An empty name is this machine's, an empty domain `local`.
    public init(domain: String, type: String, name: String, port: Int32) {
        self.domain = domain
        self.type = type
        self.name = name
        self.port = Int(port)
        found = nil
        super.init()
    }

    /// A service that a browser found.
    init(found instance: ServiceInstance, _ network: LocalNetwork) {
        domain = "\(instance.domain.name)."
        type = "\(instance.type)."
        name = instance.name.value
        port = -1
        found = instance
        givenNetwork = network
        super.init()
    }

    /// A service to resolve.
    public convenience init(domain: String, type: String, name: String) {
        self.init(domain: domain, type: type, name: name, port: -1)
    }

    deinit {
        task?.cancel()
        monitor?.cancel()
    }

    /// Has the delegate called in a mode of a run loop. At first it is the default mode of the run loop of the thread
    /// that made the service; in a task, which has none, that of the main one. Another run loop replaces it.
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        delivery.schedule(in: aRunLoop, forMode: mode)
    }

    /// Takes a mode away; without any the delegate is not called until there is one again.
    open func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        delivery.remove(from: aRunLoop, forMode: mode)
    }

    /// Ends publishing or resolving; `netServiceDidStop` follows when that is done. Without either it does nothing.
    open func stop() {
        if case .none = activity { return }
        let ending = task
        activity = .none
        ending?.cancel()
        let (delivery, this) = (delivery, RunLoopBound(self))
        task = Task {
            await ending?.value
            await delivery.deliver { this.object.map { $0.delegate?.netServiceDidStop($0) } }
        }
    }

    /// What is said on the network, checked.
    func instance() throws(DiscoveryError) -> ServiceInstance {
        if let found { return found }
        let domain = domain.isEmpty ? .local : try Domain(domain)
        let name = name.isEmpty ? ServiceName.ofThisMachine() : try ServiceName(name)
        return ServiceInstance(name: name, type: try ServiceType.withSubtypes(type).type, domain: domain)
    }

    /// A service with the same name, type and domain as they are now is the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NetService else { return false }
        if other === self { return true }
        guard let mine = try? instance(), let its = try? other.instance() else { return false }
        return mine == its
    }

    /// Does not change when the name does, as `isEqual` may compare it with what was found under the new one.
    open override var hash: Int { (try? instance().type)?.hashValue ?? 0 }

    /// `tony._tonyipp._tcp.local`, escaped for a terminal.
    open override var description: String {
        (try? instance())?.fullName ?? "\(name).\(type).\(domain)".escapedForTerminal
    }
}

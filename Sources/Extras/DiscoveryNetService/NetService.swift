public import DNSSD
public import Discovery
public import Foundation

/// A service on the network, under Foundation's old name: one that this machine publishes, or one to resolve and connect to.
///
/// It belongs to one thread: use it where its run loop runs (`schedule(in:forMode:)`); its delegate is called there too. Dropping the last
/// reference withdraws what it published. New code is shorter with `LocalNetwork`.
open class NetService: NSObject {
    /// How to publish.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Creates options from bits; unknown ones have no effect.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A taken name is an error (`collisionError`) instead of being replaced by another.
        public static let noAutoRename = Options(rawValue: 1 << 0)
        /// Listens for TCP connections, and passes each to the delegate. Port 0 takes a free one.
        public static let listenForConnections = Options(rawValue: 1 << 1)
    }

    /// Receives the calls; not retained.
    open weak var delegate: (any NetServiceDelegate)?
    /// Has no effect: Linux has no peer-to-peer Wi-Fi of this kind.
    open var includesPeerToPeer = false

    /// The domain as given; `local.` for a discovered service.
    public let domain: String
    /// The type as given; with a final dot for a discovered service.
    public let type: String
    /// The name; after publishing, the actual one.
    public internal(set) var name: String
    /// The port, or -1 while unknown.
    public internal(set) var port: Int
    /// The host with a final dot, such as `h1.local.`; nil until resolved.
    public internal(set) var hostName: String?
    /// Every address as `sockaddr_in` or `sockaddr_in6`, link-local ones with their scope; nil until resolved.
    public internal(set) var addresses: [Data]?
    /// The result of resolving as the library's own value, with interfaces.
    public internal(set) var resolved: DiscoveredService?
    /// Why the last operation failed, in words; Foundation's dictionaries hold only numbers.
    public internal(set) var failure: DiscoveryError?
    /// The network to use: this machine's avahi-daemon, or another one that is set before anything else is done.
    public var network: LocalNetwork {
        get { givenNetwork ?? SharedNetwork.network }
        set { givenNetwork = newValue }
    }

    /// The current activity, with the number that its events carry.
    enum Activity { case none, publishing(UInt64, Publisher), resolving(UInt64) }

    var activity = Activity.none
    var lastActivity: UInt64 = 0
    /// Runs the activity; the next one waits for its end.
    var task: Task<Void, Never>?
    var monitor: Task<Void, Never>?
    /// Counts the monitors, so that events still under way from a stopped one are dropped.
    var lastMonitor: UInt64 = 0
    var txt: TXTRecord?
    let delivery = RunLoopDelivery.scheduled()
    private var givenNetwork: LocalNetwork?
    /// The discovered service, whose name may not be valid for publishing.
    private let found: ServiceInstance?

    /// A service to publish, or to resolve if the port is -1. An empty name means this machine's, an empty domain `local`.
    public init(domain: String, type: String, name: String, port: Int32) {
        (self.domain, self.type, self.name) = (domain, type, name)
        self.port = Int(port)
        found = nil
        super.init()
    }

    /// A service found by a browser.
    init(found instance: ServiceInstance, _ network: LocalNetwork) {
        domain = "\(instance.domain.text)."
        type = "\(instance.type)."
        name = instance.name.text
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

    /// Schedules the delegate's calls in a mode of a run loop. Initially that is the default mode of the creating thread's run loop; for a
    /// task, which has none, the main one. Another run loop replaces it.
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        delivery.schedule(in: aRunLoop, forMode: mode)
    }

    /// Removes a mode; without any mode, the delegate is not called until one is added.
    open func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        delivery.remove(from: aRunLoop, forMode: mode)
    }

    /// Ends publishing or resolving; `netServiceDidStop` follows when that is done. Otherwise does nothing.
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

    /// The instance as named on the network, validated.
    func instance() throws(DiscoveryError) -> ServiceInstance {
        if let found { return found }
        let domain = domain.isEmpty ? .local : try Domain(domain)
        let name = name.isEmpty ? ServiceName.ofThisMachine() : try ServiceName(name)
        return ServiceInstance(name: name, type: try ServiceType.withSubtypes(type).type, domain: domain)
    }

    /// Compares current name, type and domain.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NetService else { return false }
        if other === self { return true }
        guard let mine = try? instance(), let its = try? other.instance() else { return false }
        return mine == its
    }

    /// Independent of the name, because `isEqual` may compare it with a service found under its new name.
    open override var hash: Int { (try? instance().type)?.hashValue ?? 0 }

    /// `tony._tonyipp._tcp.local`, escaped for a terminal.
    open override var description: String {
        (try? instance())?.fullName ?? "\(name).\(type).\(domain)".escapedForTerminal
    }
}

extension NetService {
    /// Two streams that share one connection to the service. Opening either one makes the connection: resolves the service and dials all
    /// its addresses according to RFC 8305, as far as the address policy allows. Schedule the streams to receive their events; otherwise
    /// `read` and `write` block.
    /// - Returns: false if the type, name or domain is invalid; both streams are nil then.
    @discardableResult
    public func getInputStream(
        _ inputStream: UnsafeMutablePointer<InputStream?>?, outputStream: UnsafeMutablePointer<OutputStream?>?
    ) -> Bool {
        inputStream?.pointee = nil
        outputStream?.pointee = nil
        do throws(DiscoveryError) {
            let connection = StreamConnection(to: try instance(), network)
            guard let (input, output) = connection.take() else { return false }
            inputStream?.pointee = input
            outputStream?.pointee = output
            return true
        } catch {
            failure = error
            return false
        }
    }
}

extension NetService {
    /// The key of the error code in an error dictionary.
    public static let errorCode = "NSNetServicesErrorCode"
    /// The key of the error domain in an error dictionary; its value is 10 (kCFStreamErrorDomainNetServices).
    public static let errorDomain = "NSNetServicesErrorDomain"

    /// The reasons for failure, as Foundation numbers them.
    public enum ErrorCode: Int, Sendable {
        /// Any other error; `NetService.failure` describes it.
        case unknownError = -72000
        /// The name is taken, and no other may be tried.
        case collisionError = -72001
        /// There is no such service, or it is gone.
        case notFoundError = -72002
        /// Another operation must end first.
        case activityInProgress = -72003
        /// The type, name, domain or port cannot be used.
        case badArgumentError = -72004
        /// The network was shut down.
        case cancelledError = -72005
        /// The service is not in the state for it.
        case invalidError = -72006
        /// The time limit has passed.
        case timeoutError = -72007
        /// No mDNS responder answers on this machine, or its policy forbids the operation.
        case missingRequiredConfigurationError = -72008
    }

    /// The dictionary that delegates receive.
    static func dictionary(_ code: ErrorCode) -> [String: NSNumber] {
        [errorCode: NSNumber(value: code.rawValue), errorDomain: NSNumber(value: 10)]
    }
}

extension NetService.ErrorCode {
    /// The code for an error of the library.
    public init(_ error: DiscoveryError) {
        switch error.code {
        case .nameTaken: self = .collisionError
        case .notFound: self = .notFoundError
        case .timedOut: self = .timeoutError
        case .closed: self = .cancelledError
        case .backendUnavailable, .notPermitted: self = .missingRequiredConfigurationError
        case .invalidServiceType, .invalidServiceName, .invalidDomain, .invalidHostName, .invalidTXTRecord,
            .invalidPort, .invalidAddress, .invalidInterface:
            self = .badArgumentError
        default: self = .unknownError
        }
    }
}

extension NetService {
    /// Follows the TXT record until `stopMonitoring()`: the delegate receives it at the start and after every change. Continues during
    /// publishing and resolving, and while the service is absent.
    public func startMonitoring() {
        guard monitor == nil else { return }
        let instance: ServiceInstance
        do throws(DiscoveryError) {
            instance = try self.instance()
        } catch {
            failure = error
            return
        }
        let (delivery, this) = (delivery, RunLoopBound(self))
        lastMonitor += 1
        let id = lastMonitor
        monitor = Task { [network] in
            var told: TXTRecord?
            let events = network.browse(ServiceQuery(.instance(instance), resolution: .watch))
            do throws(DiscoveryError) {
                for try await event in events {
                    guard let service = event.resolved, service.txt != told else { continue }
                    told = service.txt
                    await delivery.deliver { this.object?.updated(service.txt, by: id) }
                }
            } catch {
                // The network was shut down: there is no one to follow.
            }
        }
    }

    /// Ends monitoring; no further calls follow.
    public func stopMonitoring() {
        monitor?.cancel()
        monitor = nil
        lastMonitor += 1
    }

    private func updated(_ record: TXTRecord, by id: UInt64) {
        guard id == lastMonitor else { return }
        // Our own record is what was set, not what the network reports.
        if case .publishing = activity {} else { txt = record }
        delegate?.netService(self, didUpdateTXTRecord: record.wire)
    }
}

extension ServiceEvent {
    /// The event's service, if its TXT record is known.
    fileprivate var resolved: DiscoveredService? {
        switch self {
        case .found(let service), .changed(let service): service.state == .found ? nil : service
        case .lost, .settled, .backend, .degraded: nil
        }
    }
}

import DNSSD
import System

/// A connection to avahi-daemon on a thread of its own, and the lookups that were made with it. It blocks on D-Bus, and nobody waits.
actor LaneWorker {
    private let loop: EventLoop
    private var connection: AvahiConnection?
    private var lookups: [ObjectIdentifier: any Lookup] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(loop: EventLoop) { self.loop = loop }

    /// Connects. `told` is called with the first state and with each that follows.
    func connect(_ told: @escaping @Sendable (AvahiConnection.State) -> Void) {
        do throws(DiscoveryError) {
            let made = try AvahiConnection(loop: loop, stateChanged: told)
            connection = made
            told(made.currentState)
        } catch {
            told(.failed(error))
        }
    }

    func add<Event: LookupEvent>(
        _ id: ObjectIdentifier, told: @escaping @Sendable (Event) -> Void, make: LookupLane.Maker<Event>
    ) {
        guard let connection else { return }
        do throws(DiscoveryError) {
            lookups[id] = try make(connection, told)
        } catch {
            told(.failed(error))
        }
    }

    func remove(_ id: ObjectIdentifier) { lookups.removeValue(forKey: id)?.free() }

    /// One call instead of one for each lookup: avahi-daemon frees all that a client had.
    func close() {
        connection?.close()
        connection = nil
        lookups = [:]
    }
}

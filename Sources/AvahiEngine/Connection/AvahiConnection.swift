import CAvahi
import DNSSD
import DiscoverySystem

/// One `AvahiClient`: a connection to avahi-daemon over the system bus. Used only on the loop's thread.
///
/// A failed connection stays dead and is replaced by a new one. Closing it frees every object made with it (avahi-client/client.h), so
/// owners of browsers and the like check `isOpen` before they free.
@safe final class AvahiConnection {
    /// avahi-client/client.h, `AvahiClientState`.
    enum State: Equatable {
        /// Waiting for avahi-daemon to appear on the bus.
        case connecting
        /// Browsing works; publishing does not yet, because the host's own name is being registered or is taken.
        case registering
        /// Everything works.
        case running
        /// Dead.
        case failed(DiscoveryError)
    }

    let loop: EventLoop
    private let poll: AvahiPollOnLoop
    private(set) var pointer: OpaquePointer?
    private var state: State = .connecting
    private var stateChanged: ((State) -> Void)?
    /// Objects that the daemon holds for this client; it limits their number (`objects-per-client-max`).
    var objectCount = 0

    var isOpen: Bool { unsafe pointer != nil }

    /// Connects; blocks for up to 25 s while D-Bus or avahi-daemon do not answer. `stateChanged` is never called from here.
    init(loop: EventLoop, stateChanged: @escaping (State) -> Void) throws(DiscoveryError) {
        self.loop = loop
        poll = AvahiPollOnLoop(loop)
        var code: Int32 = 0
        let made = unsafe avahi_client_new(
            poll.poll, AVAHI_CLIENT_NO_FAIL,
            { client, state, userdata in
                guard let userdata = unsafe userdata else { return }
                let connection = unsafe Unmanaged<AvahiConnection>.fromOpaque(userdata).takeUnretainedValue()
                unsafe connection.changed(to: state, client: client)
            }, Unmanaged.passUnretained(self).toOpaque(), &code)
        guard let made = unsafe made else { throw DiscoveryError.avahi(code, during: "avahi-daemon cannot be reached") }
        unsafe pointer = made
        // The first states arrived within avahi_client_new, before there was a client to use.
        self.stateChanged = stateChanged
    }

    /// The state when the connection was made; `stateChanged` reports later ones.
    var currentState: State { state }

    private func changed(to new: AvahiClientState, client: OpaquePointer?) {
        switch new {
        case AVAHI_CLIENT_S_RUNNING: state = .running
        case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: state = .registering
        case AVAHI_CLIENT_CONNECTING: state = .connecting
        default:
            let code = unsafe client.map { unsafe avahi_client_errno($0) } ?? Int32(AVAHI_ERR_DISCONNECTED)
            state = .failed(.avahi(code, during: "avahi-daemon went away"))
        }
        stateChanged?(state)
    }

    /// The error of the call that just returned NULL or a negative number; meaningless at any other time.
    func lastError(during what: String) -> DiscoveryError {
        guard let pointer = unsafe pointer else { return DiscoveryError(.backendUnavailable, what) }
        return .avahi(unsafe avahi_client_errno(pointer), during: what)
    }

    /// The name of this machine's host, to which SRV records point; nil where avahi-daemon does not say.
    var hostName: HostName? {
        guard let client = unsafe pointer else { return nil }
        let text = unsafe AvahiStrings.text(avahi_client_get_host_name_fqdn(client))
        return HostName(observed: text)
    }

    /// Makes a harmless call that avahi-daemon itself must answer; the client answers others from memory.
    func probe() {
        guard let client = unsafe pointer else { return }
        let group = unsafe avahi_entry_group_new(client, nil, nil)
        if let group = unsafe group { unsafe _ = avahi_entry_group_free(group) }
    }

    /// Frees the client and every object made with it. Must not run within the client's own callback: the loop calls it from the top.
    func close() {
        guard let client = unsafe pointer else { return }
        stateChanged = nil
        unsafe pointer = nil
        unsafe avahi_client_free(client)
        objectCount = 0
    }

    deinit { close() }
}

internal import DNSSD
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import Libc

/// The addresses that are to be served, and their sockets. An address may come later, as a bridge's does.
struct DNSPlaces {
    private static let backlog: Int32 = 64

    private let log: DaemonLog
    private let all: [DNSListen]
    private var missing: [DNSListen]
    private var sockets: [Int32] = []
    /// What was said last of each.
    private var told: [DNSListen: String] = [:]
    /// Why those that are missing could not be bound.
    private var failures: [DNSListen: String] = [:]

    init(_ addresses: [DNSListen], _ log: DaemonLog) { (all, missing, self.log) = (addresses, addresses, log) }

    var status: [NamesStatus.Place] {
        all.map { place in
            .init(
                place.description,
                failure: missing.contains(place) ? failures[place] ?? "it is not bound yet" : nil)
        }
    }

    /// What a socket is bound to.
    static func name(of descriptor: Int32) -> String? {
        let bound = SocketAddress(of: descriptor)
        guard let address = bound?.address, let port = bound?.port else { return nil }
        return DNSListen(address: address, port: port).description
    }

    /// Binds what can be bound now.
    /// - Returns: the new sockets.
    mutating func bind() -> [(descriptor: Int32, kind: InheritedSocket.Kind)] {
        var new: [(descriptor: Int32, kind: InheritedSocket.Kind)] = []
        for place in missing {
            do throws(SystemError) {
                let (datagrams, listener) = try Self.sockets(at: place)
                new += [(datagrams, .datagrams), (listener, .connections)]
                sockets += [datagrams, listener]
                missing.removeAll { $0 == place }
                tell(place, "names below .local are answered by DNS at \(place)")
            } catch {
                tell(place, error)
            }
        }
        return new
    }

    private static func sockets(at place: DNSListen) throws(SystemError) -> (Int32, Int32) {
        let address = SocketAddress(place.address, port: place.port)
        let datagrams = try Sockets.make(address.family, .datagram)
        guard address.bind(datagrams) == 0 else {
            let error = SystemError(errno, "bind")
            Libc.close(datagrams)
            throw error
        }
        do throws(SystemError) {
            return (datagrams, try Sockets.listening(at: address, backlog: backlog))
        } catch {
            Libc.close(datagrams)
            throw error
        }
    }

    private mutating func tell(_ place: DNSListen, _ error: SystemError) {
        let text = "names below .local cannot be answered by DNS at \(place): \(error)"
        failures[place] = "\(error)"
        switch error.code {
        // It may come later.
        case EADDRNOTAVAIL: tell(place, text)
        case EACCES: tell(place, "\(text); the port needs a right, which discoverd-dns.socket has", isWrong: true)
        default: tell(place, text, isWrong: true)
        }
    }

    private mutating func tell(_ place: DNSListen, _ text: String, isWrong: Bool = false) {
        guard told[place] != text else { return }
        told[place] = text
        if isWrong { log.warning(text) } else { log.notice(text) }
    }

    /// A socket that was passed is on all addresses.
    func refuse() { log.warning("a socket for DNS is not served: name the address that it is on") }

    mutating func close() {
        for socket in sockets { Libc.close(socket) }
        sockets = []
    }
}

import AvahiEngine
import DNSSD
import Discovery
import DiscoverySystem

/// What publishes on the link, where nobody has said it: avahi-daemon where it answers, else this process, unless another program answers for
/// this machine (docs/decisions/0081-a-responder-of-our-own.md). A value.
struct PublisherSelection {
    enum Publisher: String {
        case avahi, wire
    }

    enum Choice: Equatable {
        /// avahi-daemon has not said yet whether it is there.
        case open
        case publisher(Publisher)
        /// Nothing can publish; the reason is for people.
        case nobody(String)
    }

    /// How long avahi-daemon may be silent: D-Bus may be starting it.
    static let patience = Duration.seconds(2)
    /// How often to look whether another responder is still there.
    static let interval = Duration.seconds(2)

    private(set) var choice = Choice.open
    /// The name of this machine's host as avahi-daemon said it last.
    private(set) var avahiHost: HostName?
    /// Why avahi-daemon does not publish, where that is known.
    private var absence: String?
    /// Why this process cannot publish; nil if it can.
    private let obstacle: String?

    init(obstacle: String?) { self.obstacle = obstacle }

    /// Call with what avahi-daemon can do now.
    /// - Parameter responders: what answers for this machine.
    mutating func avahiBecame(_ readiness: AvahiEngine.Readiness, responders: () -> [SystemResponder]) {
        switch readiness {
        case .down(let reason):
            absence = reason
            decide(responders)
        case .answers:
            absence = nil
            // What publishes goes on until avahi-daemon does: its host's name may be taken.
            if choice != .publisher(.wire) { choice = .publisher(.avahi) }
        case .publishes(let host):
            (avahiHost, absence) = (host, nil)
            choice = .publisher(.avahi)
        }
    }

    /// Call when `patience` or `interval` is over.
    mutating func look(responders: () -> [SystemResponder]) {
        switch choice {
        case .open, .nobody: decide(responders)
        case .publisher: break
        }
    }

    private mutating func decide(_ responders: () -> [SystemResponder]) {
        let reason = absence ?? "the system's avahi-daemon does not answer"
        if let obstacle {
            choice = .nobody("\(reason); \(obstacle)")
            return
        }
        // Who publishes already goes on beside a responder that comes later.
        guard case .publisher = choice else {
            let others = responders()
            if let avahi = others.first(where: \.isAvahi) {
                choice = .nobody("\(avahi) publishes for this machine, but \(reason)")
            } else if let other = others.first {
                choice = .nobody("\(other) answers multicast questions for this machine already")
            } else {
                choice = .publisher(.wire)
            }
            return
        }
        choice = .publisher(.wire)
    }
}

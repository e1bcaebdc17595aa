/// What finds services on the link.
package enum FinderChoice: String, CaseIterable, Sendable {
    /// The wire; avahi-daemon where UDP port 5353 is not shared.
    case auto
    /// The links themselves, by multicast DNS.
    case wire
    /// avahi-daemon, over D-Bus.
    case avahi
}

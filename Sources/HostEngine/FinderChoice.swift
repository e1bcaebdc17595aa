/// What finds services on the link.
package enum FinderChoice: String, CaseIterable, Sendable {
    /// The wire, where UDP port 5353 is shared; avahi-daemon otherwise.
    case auto
    /// The links themselves, by multicast DNS.
    case wire
    /// avahi-daemon, over D-Bus.
    case avahi
}

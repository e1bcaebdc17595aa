/// What finds services on the link.
package enum FinderChoice: String, CaseIterable, Sendable {
    /// avahi-daemon, until every scenario of docs/reliability.md has been run on the wire, too.
    case auto
    /// The links themselves, by multicast DNS.
    case wire
    /// avahi-daemon, over D-Bus.
    case avahi
}

/// What is judged: a program that publishes on the other side of the link, started and altered by a driver.
package protocol Implementation: AnyObject {
    var name: String { get }
    var version: String { get }
    /// What the driver can have it do.
    var abilities: Set<Ability> { get }
    /// Starts processes that publish these services, and returns before they are established.
    func start(_ services: [Service]) throws
    /// Gives the service on a port another TXT record.
    func update(port: UInt16, txt: [[UInt8]]) throws
    /// Ends the service on a port, as a user would.
    func withdraw(port: UInt16) throws
    /// Ends one of the processes.
    func end(process: Int, by signal: Signal) throws
    /// Ends everything; afterwards nothing is left of it.
    func stop() throws
    /// Changes its host: its link, its addresses, its company.
    func change(_ change: HostChange) throws
    /// Has a program look for services of a type, until it is stopped.
    func browse(_ type: String) throws
    /// What that has shown since then.
    func shown() throws -> [Shown]
}

/// What a driver can do besides starting a service and ending it.
package enum Ability: String, Hashable, Sendable, CaseIterable, Codable {
    /// What it shows of a service is what that has now, not what it had when it was found.
    case follow
    case browse, publish, subtypes, update, many, processes
    /// Several services of one process, of which each can end.
    case several
    /// The host's link and addresses can be changed.
    case host
    /// Other programs can be started on its host.
    case company
    /// It can be started where no bus of the system is.
    case bare
    /// The host can get a second interface.
    case links
    /// An avahi-daemon can be started beside it.
    case beside
}

package enum Signal: String, Sendable { case TERM, INT, KILL }

/// What happens to a host.
package enum HostChange: Hashable, Sendable {
    case addAddress(String)
    case removeAddress(String)
    /// The host's own switch of its link.
    case link(isUp: Bool)
    /// A program that shares port 5353 appears, or goes.
    case squatter(isThere: Bool)
    case route(String)
    /// A second interface, on the second link or on the first.
    case secondLink(isThere: Bool, onFirst: Bool)
    /// An avahi-daemon of another host name, `other`, appears, or goes.
    case avahi(isThere: Bool)
    /// A program of the host asks the group, and says how many answers it has heard.
    case ask([UInt8])
}

/// A service to publish in `local`. Its port tells it apart.
package struct Service: Hashable, Sendable {
    package var name: String
    package var type: String
    package var port: UInt16
    package var txt: [[UInt8]]
    package var subtypes: [String]
    /// Which process publishes it.
    package var process: Int

    package init(
        _ name: String = "tony", type: String = "_conf._tcp", port: UInt16 = 9000, txt: [[UInt8]] = Service.usualTXT,
        subtypes: [String] = [], process: Int = 1
    ) {
        (self.name, self.type, self.port) = (name, type, port)
        (self.txt, self.subtypes, self.process) = (txt, subtypes, process)
    }

    package static let usualTXT = ["path=/x", "note=a b", "flag"].map { Array($0.utf8) }
}

/// How long a graph waits for records that belong together, and how much it does in one turn.
package struct Patience: Sendable {
    /// How long additional records may lag behind the answer they belong to.
    package var additionals = Duration.zero
    /// How long an A record may take for who asks once; nil to wait for an answer.
    package var firstAddress: Duration?
    /// How long to wait for TXT before an otherwise complete service is reported without it.
    package var text: Duration?
    /// The same for one that is followed by name, as for dialling, which needs no TXT. Its list is complete only later.
    package var textOfOne: Duration?
    /// How long to wait for an answer before a service counts as not answering; of one that was asked for by name, how long its host's addresses
    /// may take. Nil where every question is answered or fails.
    package var answer: Duration?
    /// The most services that are looked at again, or given up, in one turn.
    package var evaluations = Int.max

    /// Waits for every answer, however long it takes: no question stays open.
    package static let untilAnswered = Patience()

    /// On a link no one says that there is no answer.
    /// - Parameter isForOne: whether one name is resolved, whose answer comes at once, in one packet per family.
    package static func onLink(isForOne: Bool) -> Patience {
        Patience(
            additionals: .milliseconds(isForOne ? 5 : 20),
            // avahi-daemon omits it from packets over IPv6, and sends nothing twice within a second (RFC 6762 §6), so a single
            // question gets a single answer; the first may wait 0.3 s for the list's burst, and the second comes a second later.
            firstAddress: .milliseconds(1600), text: .milliseconds(1500),
            // The record belongs to the same answer.
            textOfOne: .milliseconds(50),
            // A name of a list was asked for three times then, and would be again after 7 s only; the host of the one service, twice.
            answer: .milliseconds(isForOne ? 2000 : 3300), evaluations: 128)
    }
}

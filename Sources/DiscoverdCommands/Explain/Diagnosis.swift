#if Commands
/// One thing that is wrong.
struct Diagnosis: Hashable {
    /// What scripts rely on (docs/contract.md).
    enum Code: String, CaseIterable {
        case noInterface = "no-interface"
        case notSent = "not-sent"
        case portTaken = "port-taken"
        case silentLink = "silent-link"
        case noAnswer = "no-answer"
        case noResponder = "no-responder"
        case withdrawn
        case otherFamily = "other-family"
        case otherType = "other-type"
        case similarName = "similar-name"
        case multicastNotDelivered = "multicast-not-delivered"
        case multicastNotHeard = "multicast-not-heard"
        case answersAskerAlone = "answers-asker-alone"
        case noServiceRecord = "no-service-record"
        case noTextRecord = "no-text-record"
        case notListed = "not-listed"
        case noPort = "no-port"
        case noAddress = "no-address"
        case twoHosts = "two-hosts"
        case offLink = "off-link"
        case hopLimit = "hop-limit"
        case brokenMessage = "broken-message"
        case loss
        case addressRefused = "address-refused"
        case connectionRefused = "connection-refused"
        case connectionTimeout = "connection-timeout"
        case noRoute = "no-route"
        case avahiDiffers = "avahi-differs"
        case incomplete
        case interrupted
    }

    let code: Code
    /// What is the case, and what to do about it; safe for a terminal.
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
#endif

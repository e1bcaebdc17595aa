#if Commands
internal import DNSMessage
internal import DNSSD
internal import MulticastEngine

extension Explanation {
    /// Whether hosts send messages of which only a part can be read.
    mutating func checkMessages() {
        let owners = Set(evidence.inquiry.answers.map(\.arrival.sender))
        let faults = evidence.faults.sorted { $0.key.description < $1.key.description }
        for (host, fault) in faults.filter({ owners.contains($0.key) }).prefix(Self.mostNamed) {
            add(
                .brokenMessage,
                "\(host) sends messages that break off: \(fault.inMessage); some programs read nothing of them, and what came after is not known"
            )
        }
        // What another host meant to say may have been about something else.
        for (host, fault) in faults.filter({ !owners.contains($0.key) }).prefix(Self.mostNamed) {
            note("\(host) sends messages that break off: \(fault.inMessage); what came after is not known")
        }
    }
}

extension MessageError {
    /// What is wrong with a message that was read.
    fileprivate var inMessage: String {
        switch self {
        case .truncated: "a record is cut off, or the header counts more than there are"
        case .reservedLabel: "a name has a label of a kind that does not exist"
        case .badPointer: "a compressed name points to nothing before it"
        case .invalidName: "a name is longer than 255 bytes"
        case .tooLong, .oversizedField, .repeatedOPT, .misplacedTSIG: "a record cannot be read"
        }
    }
}
#endif

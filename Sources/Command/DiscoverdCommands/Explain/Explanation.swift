#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import Discovery
internal import DiscoverySystem
internal import MulticastEngine

/// What evidence means: what is wrong. A value.
struct Explanation {
    /// The most things that one diagnosis names.
    static let mostNamed = 4

    let evidence: Evidence
    private(set) var diagnoses: [Diagnosis] = []
    /// What is no fault, and may be of use; safe for a terminal.
    private(set) var notes: [String] = []

    init(_ evidence: Evidence) {
        self.evidence = evidence
        guard !evidence.isInterrupted else {
            add(.interrupted, "stopped before all was asked: what is wrong is not known")
            return
        }
        if !evidence.deaf.isEmpty {
            let holders = evidence.holders.isEmpty ? "another program" : Self.list(evidence.holders)
            add(
                .portTaken,
                "UDP port 5353 is not shared by \(holders): multicast on \(Self.list(evidence.deaf.map(\.text).sorted())) is not heard"
            )
        }
        if evidence.links.isEmpty {
            add(
                .noInterface,
                "no interface that is up, has an address and multicast was there to ask; 'ip address' lists them")
        } else if evidence.refusals.count == evidence.links.count {
            let reasons = evidence.refusals.sorted { $0.key < $1.key }.map {
                "\($0.key.text): \(systemMessage($0.value))"
            }
            add(
                .notSent,
                "this machine refuses to send multicast (\(reasons.joined(separator: "; "))): a firewall of its own, or no route"
            )
        } else if evidence.inquiry.answers.isEmpty {
            explainSilence()
        } else {
            checkAnswers()
            checkPath()
            if evidence.isCut { addCut() } else { checkService() }
            checkCache()
            checkConnections()
            if let doubt = evidence.keyDoubt { note(doubt) }
        }
        checkMessages()
    }

    mutating func add(_ code: Diagnosis.Code, _ message: String) { diagnoses.append(Diagnosis(code, message)) }

    mutating func note(_ text: String) { notes.append(text) }

    mutating func addCut() {
        guard !diagnoses.contains(where: { $0.code == .loss }) else { return }
        add(
            .incomplete,
            "time ran out before everything was asked: what is missing is not known; a longer --timeout tells")
    }

    /// Which hosts claim the name, and from where.
    private mutating func checkAnswers() {
        let inquiry = evidence.inquiry
        var survey = NameSurvey(own: evidence.ownAddresses)
        for heard in inquiry.heard {
            survey.received(
                Message(flags: .response, answers: [heard.record]), heard.arrival, at: heard.time)
        }
        let disputes = survey.disputes
        for dispute in disputes.filter({ !$0.mayBeOne }).prefix(Self.mostNamed) {
            add(
                .twoHosts,
                "\(dispute.name.presentation) is claimed by \(dispute.sides.count) hosts: "
                    + dispute.texts.joined(separator: "; "))
        }
        for dispute in disputes.filter(\.mayBeOne).prefix(Self.mostNamed) {
            note(
                "\(dispute.name.presentation) is one host with two interfaces on the link, or two hosts share the name: "
                    + dispute.texts.joined(separator: "; "))
        }
        let others = inquiry.answers.filter { !$0.arrival.isOurs }
        guard !others.isEmpty, !evidence.isOwn else { return }
        if !inquiry.hasNearAnswer {
            add(
                .offLink,
                "\(Self.hosts(others)) answers, which is in no network of the link: a reflector or VPN, or the host has an "
                    + "address of another network")
        }
        // Some responders, as python-zeroconf, send 255 to the group alone.
        let group = others.filter { $0.arrival.way == .group }
        if !group.isEmpty, !inquiry.hasDirectAnswer {
            add(
                .hopLimit,
                "\(Self.hosts(group)) answers with hop limit \(group.first?.arrival.hops ?? 0) and not 255 (RFC 6762 §11): "
                    + "it was forwarded, or the responder is wrong; some programs ignore it")
        }
    }

    /// Whether packets get through.
    private mutating func checkPath() {
        let deaf = evidence.inquiry.unheardLinks.subtracting(evidence.deaf).sorted()
        if !deaf.isEmpty {
            add(
                .multicastNotHeard,
                "hosts on \(Self.list(deaf.map(\.text))) answer when they are asked directly, but multicast is not heard. A firewall of "
                    + "this machine drops UDP port 5353, or IGMP snooping keeps the group away; browsing misses news"
            )
        }
        let loners = evidence.inquiry.loners
        if !loners.isEmpty {
            add(
                .answersAskerAlone,
                "\(Self.list(loners.map(\.description).sorted())) answers only the asker, by unicast, and nothing to the group "
                    + "(RFC 6762 §6): programs that listen to the group alone do not find it")
        }
        guard let sample = evidence.inquiry.sample else { return }
        let count = "\(sample.host) answered \(sample.answered) of \(sample.asked) questions"
        switch sample.verdict {
        case .good, .unknown: break
        case .lossy: add(.loss, "\(count): packets are lost on the way, or it cannot keep up")
        case .silent:
            note(
                "\(sample.host) answers multicast, but not when it is asked directly: a firewall of this machine drops that, or it does not allow it"
            )
        case .unclear: note("\(count): it limits its answers, or packets are lost on the way")
        }
    }

    static func hosts(_ heard: [Heard]) -> String {
        list(heard.map(\.arrival.sender).uniqued().map(\.description))
    }

    static func list(_ items: [String]) -> String {
        let shown = items.prefix(mostNamed).joined(separator: ", ")
        return items.count > mostNamed ? "\(shown) and \(items.count - mostNamed) more" : shown
    }
}

extension NetworkInterface {
    /// Safe for a terminal.
    var text: String { name.escapedForTerminal }
}

extension Endpoint {
    /// `10.0.0.7 port 80`, with the scope's name; safe for a terminal.
    var text: String { "\(address.text(on: interface)) port \(port)" }
}

extension IPAddress {
    /// With the interface's name where it means something there alone; safe for a terminal.
    func text(on interface: NetworkInterface?) -> String {
        text(scopedTo: isLinkLocal && family == .ipv6 ? interface : nil).escapedForTerminal
    }
}

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

/// One thing that is wrong.
struct Diagnosis: Hashable {
    /// What scripts rely on (docs/contract/json.md).
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

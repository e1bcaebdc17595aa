package import DNSMessage
package import DNSSD

/// Who has answered a list's questions, and by which of the ways in which it was asked for: to the group, and twice from a port of its own.
///
/// Each way is a chance of its own against a loss, and those from a port are not subject to the silence of a second (RFC 6762 §6). A value:
/// receives events with their times.
package struct ListAnswers: Sendable {
    /// A way in which the list was asked for.
    package enum Way: UInt8, Sendable {
        case group = 1
        case first = 2
        case again = 4
    }

    /// What the answers say of the list.
    package enum Verdict: Hashable, Sendable {
        /// Somebody did not answer by every way, or not soon, or not known to be whole; or nobody did.
        ///
        /// Who says nothing to the group has answered somebody else a moment ago, and so may others have of whom nothing is heard, because
        /// they answer no port.
        case open
        /// As `open`, and somebody who was asked by itself did not answer, or not soon.
        case slow
        /// Whoever answered did so by every way.
        case whole
        /// The last packet of somebody's answer to the group was full: more is on its way, or was lost.
        case unfinished
        /// Somebody's answer to a port left something out, and the group has none from there yet: there is more.
        case cut
        /// Others ask as well, and no one answers anyone, or not any more, or somebody the group and none of our ports: there may be nothing
        /// more, or who has it cannot keep up.
        case unanswered
    }

    /// How soon the answers came.
    private enum Pace {
        case soon
        /// One came late, or there were too many, or one says nothing of the list and was cut.
        case late
    }

    /// avahi-daemon's answers to a port end at 512 bytes, and leave out what does not fit, without a word: up to here no PTR record
    /// can have been left out, which has 64 bytes of a name and 14 more.
    package static let whole = 512 - 78
    /// A packet of this size is probably not the last of an answer. Ethernet's carries 1440 to 1472 bytes.
    package static let full = 1200
    /// What takes longer is a slow link, or a busy host: 5 to 11 ms were measured.
    private static let slowestToPort = Duration.milliseconds(50)
    /// The same for answers to the group, which take 20 to 120 ms (RFC 6762 §6).
    private static let slowestToGroup = Duration.milliseconds(180)
    /// What comes later has other causes than these questions.
    private static let longest = Duration.seconds(6)
    /// More responders than anyone lists: a list of so many is not settled early.
    private static let mostSources = 1024
    /// So many questions for the same without an answer, besides ours, are a crowd: one other asks twice in this time.
    private static let crowd = 5
    /// How long responders may say nothing because they have just said it (RFC 6762 §6).
    private static let silence = Duration.seconds(1)

    private let began: Duration
    private var sources: [PacketSource: UInt8] = [:]
    /// Whose last packet was full; nil: this machine's.
    private var unfinished: Set<PacketSource?> = []
    /// Who left something out of an answer to a port, and has not answered the group, with a service that it named over IPv6; nil: this machine.
    private var unheard: [PacketSource?: DomainName?] = [:]
    /// How this machine's own responder has answered.
    private var own: UInt8 = 0
    private var pace = Pace.soon
    /// How many answers to the port may have left something out: who answers so logs it, and is not asked again.
    private var cut = 0
    package var isCut: Bool { cut > 0 }
    /// Whether the second question has to be waited for in any case.
    var isLate: Bool { pace == .late }
    /// Each host is asked by itself where an answer to a port does not show that it is all.
    package var hosts = HostQuestions()
    private var lastAnswer: Duration?
    /// Questions to the group since the last answer, ours among them, over a family.
    private struct Questions {
        /// Of those who know nothing of it.
        var unknowing = 0
        /// Of those who list what they know.
        var knowing = 0
    }
    private var questions: [IPAddress.Family: Questions] = [:]
    private var wasPortAsked = false
    /// All questions to the group, ours among them, over a family.
    private var allQuestions: [IPAddress.Family: Int] = [:]

    /// - Parameter first: when the group is asked.
    package init(from first: Duration) { began = first }

    /// Whether answers at this time count.
    func listens(at now: Duration) -> Bool { now - began < Self.longest }

    /// A responder's answer.
    /// - Parameters:
    ///   - source: who sent it; nil: this machine, whose answers say nothing of the link.
    ///   - isFull: its packet is so long that it is probably not the last.
    ///   - delay: since the question; nil: since the group's first.
    package mutating func answered(
        by source: PacketSource?, _ way: Way, isWhole: Bool = true, isFull: Bool = false,
        naming name: DomainName? = nil,
        after delay: Duration? = nil, at now: Duration
    ) {
        guard listens(at: now) else { return }
        if way == .group { unheard[source] = nil }
        (lastAnswer, questions) = (now, [:])
        let ways = source.map { sources[$0] ?? 0 } ?? own
        if !isWhole, ways & Way.group.rawValue == 0, unheard.count < Self.mostSources {
            unheard.updateValue(name, forKey: source)
        }
        // Where hosts are asked by themselves, what comes to a port is no part of the list.
        if !isFull, way == .group || !hosts.isAsking { unfinished.remove(source) }
        if isFull, unfinished.count < Self.mostSources { unfinished.insert(source) }
        let isSlow = (delay ?? now - began) > (way == .group ? Self.slowestToGroup : Self.slowestToPort)
        let isKept = source.map { sources.count < Self.mostSources || sources[$0] != nil } ?? true
        if !isWhole { cut += 1 } else if isSlow || !isKept { pace = .late }
        guard let source else { return own |= way.rawValue }
        if isKept { sources[source, default: 0] |= way.rawValue }
    }

    /// Something is heard that shows that the list may not be whole.
    mutating func isInDoubt() { pace = .late }

    /// A host that is asked by itself has answered.
    mutating func hostAnswered(_ host: IPv4Address, at now: Duration) {
        (lastAnswer, questions) = (now, [:])
        unheard[PacketSource(.v4(host))] = nil
    }

    /// Looks at the answers of hosts that are over; of those that have shown that nothing is missing there is no doubt.
    mutating func judgeHosts(at now: Duration) {
        hosts.judge(at: now)
        for host in hosts.shown { unfinished.remove(PacketSource(.v4(host))) }
    }

    /// It was asked for from a port of its own.
    package mutating func askedPort() { wasPortAsked = true }

    /// A question for the list was put to the group, by whomever.
    /// - Parameter isKnowing: who asks lists what is known.
    package mutating func wasAsked(over family: IPAddress.Family, isKnowing: Bool = false, at now: Duration) {
        guard listens(at: now) else { return }
        allQuestions[family, default: 0] += 1
        guard lastAnswer.map({ now - $0 >= Self.silence }) ?? true else { return }
        if isKnowing {
            questions[family, default: Questions()].knowing += 1
        } else {
            questions[family, default: Questions()].unknowing += 1
        }
    }

    /// - Parameters:
    ///   - timesAsked: how many of the questions were ours.
    ///   - isOverIPv4: whether a service, or all that is known for nil, was heard over IPv4, over which hosts are asked by themselves.
    package func verdict(timesAsked: Int, isOverIPv4: (DomainName?) -> Bool = { _ in true }) -> Verdict {
        // Once there was an answer, ours list it.
        let ours = lastAnswer == nil ? timesAsked : 0
        if questions.values.contains(where: { $0.unknowing >= ours + Self.crowd }) { return .unanswered }
        let all = Way.group.rawValue | Way.first.rawValue | Way.again.rawValue
        let isAnsweredSoon = pace == .soon && !sources.isEmpty && sources.values.allSatisfy { $0 == all }
        let areHostsShown = hosts.areAllShown
        if areHostsShown, own == 0, isOverIPv4(nil) { return isAnsweredSoon ? .whole : .open }
        // What an answer to a port left out, a host has said by itself over IPv4; what it may have lost, the next question brings.
        let haveHostsAnswered = hosts.haveAllAnswered
        let isCutOff = unheard.contains { source, name in
            guard haveHostsAnswered, source != nil, let name else { return true }
            return !isOverIPv4(name)
        }
        guard !isCutOff else { return .cut }
        // Who is behind with a crowd's questions has not come to ours: what it says leaves out what others listed as known.
        let isCrowd = allQuestions.values.contains { $0 >= timesAsked + Self.crowd }
        if isCrowd, wasPortAsked, sources.values.contains(Way.group.rawValue) { return .unanswered }
        guard unfinished.isEmpty else {
            // Those who were not answered ask again. So do those who were: where many ask for what is whole, and its last packet is full,
            // this cannot be known.
            return questions.values.contains { $0.knowing >= timesAsked + Self.crowd } ? .unanswered : .unfinished
        }
        if isAnsweredSoon, !isCut, !hosts.isAsking, own == 0 || own == all { return .whole }
        return hosts.isAnyLate ? .slow : .open
    }
}

/// Decides when a browse has reported everything for now.
///
/// The protocol has no message for it, so this waits for silence after the second question, which recovers answers lost
/// after the first. Measured with 2 % of packets lost: after 150 ms of silence 18 of 20 browses are complete, after
/// 1000 ms no more; after the second question all 20 are. A question that brings more is no proof that this is all: where the responders had
/// just answered somebody else, the second brings the first answer (RFC 6762 §6). One more has to bring nothing.
///
/// Where everyone who answers does so at once by each way in which the list is asked for (`ListAnswers`), there is nothing to recover, and the
/// second question is not waited for: a link on which nothing of many answers was lost or late loses little. Where there may be somebody who
/// cannot keep up, a list is not heard out.
///
/// Silence counts only while this program could have heard something, and lasts longer where answers were slow or this machine is busy. A list
/// that is not heard out within `patience` ends all the same, as cut short.
package struct Settling: Sendable {
    private static let silence = Duration.milliseconds(150)
    /// How long to listen after the first question, at the least: to the group, answers come within 20 to 140 ms, and those to a port, which
    /// is asked from after 120 and 160 ms, within 11.
    private static let firstPatience = Duration.milliseconds(200)
    /// How often answers are looked at then, and until when: what only confirms is no news.
    private static let lookInterval = Duration.milliseconds(30)
    private static let lastLook = Duration.milliseconds(500)
    /// The silence before such an early end.
    private static let shortSilence = Duration.milliseconds(60)
    /// Known answers in several packets delay hosts by 400 to 500 ms (RFC 6762 §7.2). An empty list waits as long, in
    /// case a host is slow, and so does one of which a host did not say soon that it is all.
    private static let longSilence = Duration.milliseconds(600)
    /// The first list ends after this time at the latest: before the 5 s that commands and the daemon give it.
    package static let patience = Duration.milliseconds(4500)
    /// An answer as late as this is not one of a host that is merely polite (RFC 6762 §6: 20 to 120 ms).
    private static let slowAnswer = Duration.milliseconds(250)
    /// A timer as late as this shows a busy machine, whose other programs may be as late.
    static let busy = Duration.milliseconds(50)
    /// How many such delays an answer may meet: the question's, the responder's two, and that of reading it.
    private static let delays = 4
    /// How often to ask before nothing counts as found on a busy machine, and before nothing more comes after a full packet.
    private static let questionsWhenBusy = 3
    /// What comes later than this after a question is no answer to it. Less than a second: a name each second, of which no question
    /// is the cause, must not hold up a list.
    private static let latestAnswer = Duration.milliseconds(800)
    /// How often to ask, sooner than its turn, for the question that brings nothing. If the last of these brings more, the list is cut short.
    private static let mostHastened = 4

    private let began: Duration
    private var asked = 0
    private var firstAsked: Duration?
    private var verdict = ListAnswers.Verdict.open
    /// When the verdict was given.
    private var judged = Duration.zero
    private var lastAsked = Duration.zero
    private var wasTruncated = false
    private var lastNews: Duration?
    private var doOthersKnowMore = false
    /// Whether the last question, which is not the first, has brought more.
    private var hasBroughtMore = false
    /// When packets last waited to be looked at.
    private var lastBehind: Duration?
    /// The longest time from a question to news of its list.
    private var slowest = Duration.zero
    /// Whether the kernel dropped packets.
    private var hasLost = false
    /// The greatest delay of a timer.
    private var late = Duration.zero
    /// The number of times that the question must be asked: twice, and once more after a loss, or an answer to it that brought more.
    private var needed = 2

    /// Starts a browse.
    /// - Parameters:
    ///   - timesAsked: how often the question was already asked for another browse.
    ///   - now: the time.
    package init(timesAsked: Int = 0, at now: Duration) {
        began = now
        asked = timesAsked
        firstAsked = timesAsked > 0 ? now : nil
        lastAsked = now
    }

    /// The question was asked on the link.
    package mutating func asked(isTruncated: Bool, at now: Duration) {
        asked += 1
        if firstAsked == nil { firstAsked = now }
        lastAsked = now
        wasTruncated = isTruncated
        hasBroughtMore = false
    }

    /// Something new arrived.
    package mutating func news(at now: Duration) { lastNews = now }

    /// The list has another entry.
    package mutating func answered(at now: Duration) {
        guard asked > 0, now - lastAsked <= Self.latestAnswer else { return }
        slowest = max(slowest, now - lastAsked)
        guard asked >= 2 else { return }
        hasBroughtMore = true
        if asked < Self.mostHastened { needed = max(needed, asked + 1) }
    }

    /// Whether to ask once more, a second after the last question.
    package var wantsQuestion: Bool {
        hasBroughtMore && asked < needed
            || (doOthersKnowMore || verdict == .unfinished || verdict == .cut) && asked > 0 && asked < Self.mostHastened
    }

    /// The kernel dropped packets of ours.
    package mutating func lost() {
        needed = max(2, asked + 1)
        hasLost = true
    }

    /// What the answers say so far. Called before `isSettled`.
    package mutating func judge(_ verdict: ListAnswers.Verdict, at now: Duration) {
        self.verdict = verdict
        judged = now
    }

    /// Whether others know an answer that has not arrived here, and that has not been asked for since.
    package mutating func othersKnowMore(_ more: Bool) { doOthersKnowMore = more }

    /// The last question is still being sent: its known answers take many packets.
    package mutating func isAsking(at now: Duration) {
        lastAsked = now
        wasTruncated = true
    }

    /// Packets wait to be looked at.
    package mutating func isBehind(at now: Duration) { lastBehind = now }

    /// A timer was late by this time.
    package mutating func wasLate(by delay: Duration) { if delay >= Self.busy { late = max(late, delay) } }

    /// When to call `isSettled` again.
    package var deadline: Duration { [settles, settlesEarly, nextLook].compactMap(\.self).reduce(end, min) }

    /// Whether there is no more to wait for.
    package func isSettled(at now: Duration) -> Bool { now >= end || isOver(at: now) }

    /// Whether the list is complete, as far as this can be known.
    package func isHeardOut(at now: Duration) -> Bool { !hasBroughtMore && isOver(at: now) }

    private func isOver(at now: Duration) -> Bool {
        [settles, settlesEarly].contains { $0.map { now >= $0 } ?? false }
    }

    /// When the answers are looked at: for an early end, and for the end of a doubt, which may come with answers that bring nothing new.
    private var nextLook: Duration? {
        if asked > 1, verdict == .cut || verdict == .unanswered { return max(lastAsked, judged) + Self.silence }
        guard asked == 1, let firstAsked else { return nil }
        let next = max(firstAsked + Self.firstPatience, judged + Self.lookInterval)
        return next <= firstAsked + Self.lastLook ? next : nil
    }

    /// When the list settles without a second question; nil if not all ways were heard, or what was heard was slow.
    private var settlesEarly: Duration? {
        guard let firstAsked, verdict == .whole, !hasLost, late == .zero, slowest <= Self.slowAnswer, !doOthersKnowMore,
            !wasTruncated
        else { return nil }
        let last = max(lastNews ?? .zero, lastBehind ?? .zero) + Self.shortSilence
        return max(firstAsked + Self.firstPatience, last)
    }

    private var end: Duration { began + Self.patience }

    /// When the list settles without further events; nil if it needs one first.
    private var settles: Duration? {
        let hasFoundNothing = lastNews == nil && lastAsked > began
        let isDoubtful = hasFoundNothing && late > .zero || verdict == .unfinished
        let needed = isDoubtful ? max(needed, Self.questionsWhenBusy) : needed
        guard asked >= needed, !doOthersKnowMore, verdict != .unanswered, verdict != .cut else { return nil }
        let isLong = wasTruncated || hasFoundNothing || verdict == .unfinished || verdict == .slow
        let silence = isLong ? Self.longSilence : Self.silence
        let last = max(lastAsked, lastNews ?? lastAsked, lastBehind ?? lastAsked)
        return last + max(silence, slowest > Self.slowAnswer ? slowest + Self.silence : .zero) + late * Self.delays
    }
}

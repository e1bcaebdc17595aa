import DNSSD
import Discovery
import Testing

struct Thing: Listed, CustomStringConvertible {
    let key: String
    let version: Int

    init(_ key: String, _ version: Int = 0) {
        self.key = key
        self.version = version
    }

    var description: String { version == 0 ? key : "\(key)\(version)" }
}

/// Pending changes, and the clock.
private struct Story {
    var pending = PendingChanges<Thing>()
    var now = Duration.zero

    mutating func tell(_ changes: Change<Thing>...) { for change in changes { pending.apply(change, now: now) } }

    mutating func take() -> [String] {
        var words: [String] = []
        while let change = pending.next(now: now) { words.append(change.word(\.description)) }
        return words
    }
}

@Suite struct PendingChangesTests {
    @Test func foundAndLostIsNothing() {
        var story = Story()
        story.tell(.found(Thing("a")), .lost(Thing("a")))
        #expect(story.take() == [])
    }

    @Test func foundAndChangedIsFoundAnew() {
        var story = Story()
        story.tell(.found(Thing("a")), .changed(Thing("a", 1)))
        #expect(story.take() == ["+a1"])
    }

    @Test func lostAndFoundIsAChangeOrNothing() {
        var story = Story()
        story.tell(.found(Thing("a")), .found(Thing("b")))
        #expect(story.take() == ["+a", "+b"])
        story.tell(.lost(Thing("a")), .lost(Thing("b")), .found(Thing("a")), .found(Thing("b", 1)))
        #expect(story.take() == ["~b1"])
    }

    @Test func changedAndLostIsLostAsLastKnown() {
        var story = Story()
        story.tell(.found(Thing("a")))
        #expect(story.take() == ["+a"])
        story.tell(.changed(Thing("a", 1)), .changed(Thing("a", 2)), .lost(Thing("a", 2)))
        #expect(story.take() == ["-a2"])
    }

    @Test func settledComesAfterEverythingFoundBefore() {
        var story = Story()
        story.tell(.found(Thing("a")))
        #expect(story.take() == ["+a"])
        story.tell(.lost(Thing("a")))
        #expect(story.take() == ["-a"])
        story.tell(.found(Thing("a")), .found(Thing("b")))
        #expect(story.take() == ["+b"])
        story.tell(.settled, .found(Thing("c")))
        #expect(story.take() == ["+a", "settled", "+c"])
    }

    @Test func settledIsToldOnceUnlessItIsToBeRepeated() {
        var story = Story()
        story.tell(.settled, .settled)
        #expect(story.take() == ["settled"])
        story.tell(.backend(.recovered), .settled)
        #expect(story.take() == ["backend recovered"])
        story.pending = PendingChanges(repeatsSettled: true)
        story.tell(.settled, .found(Thing("a")), .settled)
        #expect(story.take() == ["+a", "settled"])
        story.tell(.backend(.recovered), .settled)
        #expect(story.take() == ["backend recovered", "settled"])
    }

    @Test func oneChangeASecondAndTheLastIsNotLost() {
        var story = Story()
        story.tell(.found(Thing("a")))
        #expect(story.take() == ["+a"])
        story.tell(.changed(Thing("a", 1)))
        #expect(story.take() == ["~a1"])
        story.tell(.changed(Thing("a", 2)))
        #expect(story.take() == [])
        #expect(story.pending.nextDeadline == .seconds(1))
        story.now = .milliseconds(990)
        story.tell(.changed(Thing("a", 3)))
        #expect(story.take() == [])
        story.now = .seconds(1)
        #expect(story.take() == ["~a3"])
        #expect(story.pending.nextDeadline == nil)
    }

    @Test func anEndIsToldAtOnceAndAReturnAfterASecond() {
        var story = Story()
        story.tell(.found(Thing("a")))
        #expect(story.take() == ["+a"])
        story.tell(.changed(Thing("a", 1)))
        #expect(story.take() == ["~a1"])
        story.tell(.changed(Thing("a", 2)))
        #expect(story.take() == [])
        story.tell(.lost(Thing("a", 2)))
        #expect(story.take() == ["-a2"])
        story.tell(.found(Thing("a", 3)))
        #expect(story.take() == [])
        story.now = .seconds(1)
        #expect(story.take() == ["+a3"])
    }

    @Test func backendStatesKeepTheirPlaceAndDoNotPileUp() {
        var story = Story()
        story.tell(.found(Thing("a")), .backend(.lost("")), .backend(.recovered), .found(Thing("b")))
        #expect(story.take() == ["+a", "backend lost", "backend recovered", "+b"])
        for _ in 0..<1000 { story.tell(.backend(.lost("")), .backend(.recovered)) }
        story.tell(.backend(.lost("")))
        #expect(story.pending.queueLength <= 4)
        let words = story.take()
        #expect(words.first == "backend lost" && words.last == "backend lost")
    }

    @Test func oneWhoNeverTakesCostsNoMoreThanWhatExists() {
        var story = Story()
        for number in 0..<100_000 {
            story.tell(.found(Thing("x\(number)")))
            story.tell(.lost(Thing("x\(number)")))
            story.tell(.degraded("\(number)"))
        }
        #expect(story.pending.count < 200)
        #expect(story.pending.queueLength < 200)
    }

    @Test func oneWhoTakesAllDoesNotCollectWhatIsGone() {
        var story = Story()
        for number in 0..<10_000 {
            story.now += .milliseconds(10)
            story.tell(.found(Thing("x\(number)")))
            #expect(story.take() == ["+x\(number)"])
            story.tell(.lost(Thing("x\(number)")))
            #expect(story.take() == ["-x\(number)"])
        }
        #expect(story.pending.count < 500)
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func randomChangesLeaveTheSubscriberWithTheTruth(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var story = Story()
        var truth: [String: Thing] = [:]
        var view: [String: Thing] = [:]
        var lastChange: [String: Duration] = [:]
        func take(_ limit: Int) {
            for _ in 0..<limit {
                guard let change = story.pending.next(now: story.now) else { return }
                switch change {
                case .found(let thing):
                    #expect(view[thing.key] == nil)
                    view[thing.key] = thing
                case .changed(let thing):
                    #expect(view[thing.key] != nil && view[thing.key] != thing)
                    if let last = lastChange[thing.key] { #expect(story.now >= last + .seconds(1)) }
                    lastChange[thing.key] = story.now
                    view[thing.key] = thing
                case .lost(let thing):
                    #expect(view[thing.key] != nil)
                    view[thing.key] = nil
                    lastChange[thing.key] = nil
                default: break
                }
            }
        }
        for step in 1...500 {
            let key = String("abcdefgh".randomElement(using: &generator) ?? "a")
            if let thing = truth[key] {
                if Bool.random(using: &generator) {
                    truth[key] = nil
                    story.tell(.lost(thing))
                } else {
                    truth[key] = Thing(key, step)
                    story.tell(.changed(Thing(key, step)))
                }
            } else {
                truth[key] = Thing(key, Int.random(in: 0...1, using: &generator))
                if let thing = truth[key] { story.tell(.found(thing)) }
            }
            story.now += .milliseconds(Int.random(in: 0...300, using: &generator))
            take(Int.random(in: 0...2, using: &generator))
        }
        while true {
            take(.max)
            guard let deadline = story.pending.nextDeadline else { break }
            story.now = max(story.now, deadline)
        }
        #expect(view == truth)
    }
}

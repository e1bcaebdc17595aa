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

/// A log, and an iterator's place in it.
private struct Story {
    var log = ChangeLog<Thing>(endLimit: 64)
    var reader = LogFollower<Thing>()

    mutating func tell(_ changes: Change<Thing>...) { for change in changes { log.apply(change) } }

    mutating func take(_ limit: Int = .max) -> [String] {
        reader.take(from: log, atMost: limit).map { $0.word(\.description) }
    }
}

@Suite struct LogFollowerTests {
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
        story.tell(.found(Thing("a")), .found(Thing("b")), .settled, .found(Thing("c")))
        // They keep only their last place, and are reported as they are now.
        for version in 1...1000 { story.tell(.changed(Thing("a", version)), .changed(Thing("c", version))) }
        #expect(story.take() == ["+b", "+a1000", "settled", "+c1000"])
        story = Story()
        story.tell(.found(Thing("a")), .found(Thing("b")), .settled)
        for word in ["+a", "+b", "settled"] { #expect(story.take(1) == [word]) }
        #expect(story.take(1) == [])
    }

    @Test func whatEndedUnseenBeforeTheListWasCompleteAndCameBackIsToldBeforeThat() {
        var story = Story(log: ChangeLog(endLimit: 1))
        story.tell(.found(Thing("a")), .lost(Thing("a")), .settled, .found(Thing("b")))
        // Places that are void are dropped meanwhile.
        for version in 1...9 { story.tell(.changed(Thing("b", version))) }
        #expect(story.log.length < 11)
        story.tell(.found(Thing("a", 1)))
        #expect(story.take() == ["+a1", "settled", "+b9"])
    }

    @Test func slotsOfWhatLeftAreUsedAgainAndTheRestStaysWhatItWas() {
        var story = Story()
        let all = (0..<2000).map { Thing("x\($0)") }
        for thing in all { story.tell(.found(thing)) }
        #expect(story.take().count == 2000)
        for thing in all.dropFirst(7) { story.tell(.lost(thing)) }
        #expect(story.take().count == 2000 - 7)
        for thing in all.prefix(9) { story.tell(.changed(Thing(thing.key, 1))) }
        #expect(Set(story.take()) == Set((0..<7).map { "~x\($0)1" } + ["+x71", "+x81"]))
        #expect(story.log.values.map(\.version) == [Int](repeating: 1, count: 9))
        for thing in all.dropFirst(9) { story.tell(.found(Thing("y" + thing.key))) }
        #expect(story.take().count == 2000 - 9)
        // A slot and a place for each; what is void or ended is bounded by the 64 ends that are kept.
        #expect(story.log.length < 2 * 2000 + 400)
    }

    @Test func settledIsToldOnceUnlessItIsToBeRepeated() {
        var story = Story()
        story.tell(.settled, .settled)
        #expect(story.take() == ["settled"])
        story.tell(.backend(.recovered), .settled)
        #expect(story.take() == ["backend recovered"])
        story = Story(reader: LogFollower(repeatsSettled: true))
        story.tell(.settled, .found(Thing("a")), .settled)
        #expect(story.take() == ["+a", "settled"])
        story.tell(.backend(.recovered), .settled)
        #expect(story.take() == ["backend recovered", "settled"])
    }

    @Test func backendStatesKeepTheirPlaceAndDoNotPileUp() {
        var story = Story()
        story.tell(.found(Thing("a")), .backend(.lost("")), .backend(.recovered), .found(Thing("b")))
        #expect(story.take() == ["+a", "backend lost", "backend recovered", "+b"])
        for _ in 0..<1000 { story.tell(.backend(.lost("")), .backend(.recovered)) }
        story.tell(.backend(.lost("")))
        #expect(story.log.notes.count <= 4)
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
        #expect(story.log.count == 0 && story.log.length < 400)
    }

    @Test func whatTheLogHasForgottenIsMissedByNoOneWhoKnowsWhatItSaw() {
        var story = Story()
        for number in 0..<1000 { story.tell(.found(Thing("x\(number)"))) }
        story.tell(.settled)
        #expect(story.take().count == 1001)
        for number in 0..<1000 where number != 7 { story.tell(.lost(Thing("x\(number)"))) }
        #expect(story.log.forgotten > 0)
        story.tell(.changed(Thing("x7", 1)), .found(Thing("y")))
        var words: [String] = []
        while true {
            let some = story.take(100)
            #expect(some.count <= 100)
            if some.isEmpty { break }
            words += some
        }
        #expect(words.count == 1001 && Set(words).count == 1001 && words.suffix(2) == ["~x71", "+y"])
    }

    /// However it is read, and whatever is forgotten.
    @Test(arguments: 0..<100 as Range<UInt64>) func randomChangesLeaveTheReaderWithTheTruth(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var story = Story(log: ChangeLog(endLimit: Int(seed % 5)))
        var truth: [String: Thing] = [:]
        var view: [String: Thing] = [:]
        func take(_ limit: Int) -> Bool {
            let changes = story.reader.take(from: story.log, atMost: limit)
            #expect(changes.count <= limit)
            for change in changes {
                switch change {
                case .found(let thing):
                    #expect(view[thing.key] == nil)
                    view[thing.key] = thing
                case .changed(let thing):
                    #expect(view[thing.key] != nil && view[thing.key] != thing)
                    view[thing.key] = thing
                case .lost(let thing):
                    #expect(view[thing.key] != nil)
                    view[thing.key] = nil
                case .settled:
                    // What was there when it was said, and still is, has been reported.
                    #expect(known.allSatisfy { view[$0] != nil || truth[$0] == nil })
                case .backend, .degraded: break
                }
            }
            return !changes.isEmpty
        }
        var known: Set<String> = []
        for step in 1...500 {
            let key = String("abcdefgh".randomElement(using: &generator) ?? "a")
            if let thing = truth[key] {
                if Bool.random(using: &generator) {
                    (truth[key], known) = (nil, known.subtracting([key]))
                    story.tell(.lost(thing))
                } else {
                    truth[key] = Thing(key, step)
                    story.tell(.changed(Thing(key, step)))
                }
            } else {
                let thing = Thing(key, Int.random(in: 0...1, using: &generator))
                truth[key] = thing
                story.tell(.found(thing))
            }
            if step == 100 {
                known = Set(truth.keys)
                story.tell(.settled)
            }
            _ = take(Int.random(in: 0...2, using: &generator))
        }
        while take(.max) {}
        #expect(view == truth)
    }
}

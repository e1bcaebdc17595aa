import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import DiscoveryJSON
import Labels
import Testing

/// What is published while containers come, go, flap, and a runtime is away.
@Suite("labels over time")
struct LabelBoardTests {
    private var board: LabelBoard
    private var now = Duration.seconds(100)

    init() {
        var grants = LabelGrants()
        (grants.types, grants.number) = (nil, 300)
        board = LabelBoard([.podman, .docker], grants)
        board.listed([], of: .podman, at: now)
        board.listed([], of: .docker, at: now)
        _ = board.turn(at: now)
    }

    private func web(_ name: String, port: Int = 80, isUp: Bool = true) -> Labelled {
        var subject = Labelled(name: name)
        subject.labels = [("publish", "_http._tcp"), ("port", "\(port)")]
        subject.isUp = isUp
        return subject
    }

    private mutating func names(after seconds: Double = 0) -> [String] {
        now += .milliseconds(Int(seconds * 1000))
        return board.turn(at: now).requests.map(\.service.name.text)
    }

    @Test("it is there while the container is up, by whatever runtime; a list ends what it has not")
    mutating func comesAndGoes() {
        board.saw(web("a"), "1", of: .podman)
        board.saw(web("b"), "1", of: .docker)
        board.saw(web("c", isUp: false), "2", of: .docker)
        #expect(names() == ["a", "b"])
        board.saw(web("c"), "2", of: .docker)
        board.stopped("1", of: .podman)
        #expect(names() == ["b", "c"])
        board.listed(["2"], of: .docker, at: now)
        #expect(names() == ["c"])
        board.saw(nil, "2", of: .docker)
        #expect(names().isEmpty)
    }

    @Test(
        "what flaps is told its end at once, and comes later each time, up to a minute; a steady minute and it is as new"
    )
    mutating func flaps() {
        var pauses: [Int] = []
        board.saw(web("a"), "1", of: .podman)
        #expect(names() == ["a"])
        for _ in 0..<8 {
            // Another container each time, as a supervisor makes them.
            board.saw(nil, "1", of: .podman)
            #expect(names().isEmpty)
            board.saw(web("a"), "1", of: .podman)
            var waited = 0
            while names().isEmpty {
                waited += 1
                now += .seconds(1)
            }
            pauses.append(waited)
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60])
        #expect(names(after: 61) == ["a"])
        board.stopped("1", of: .podman)
        #expect(names().isEmpty)
        board.saw(web("a"), "1", of: .podman)
        #expect(names() == [] && names(after: 1) == ["a"])
    }

    @Test("200 that flap twice a second for a minute: each is there in the end, and few changes were told")
    mutating func manyFlap() {
        var told = 0
        var last: Set<String> = []
        for step in 0..<120 {
            for number in 0..<200 {
                let isUp = (step + number) % 2 == 0
                board.saw(web("c\(number)", port: 1000 + number, isUp: isUp), "\(number)", of: .podman)
            }
            let new = Set(names(after: 0.5))
            told += new.symmetricDifference(last).count
            last = new
        }
        // Each time would be 24,000.
        #expect(told < 2400, "\(told)")
        for number in 0..<200 { board.saw(web("c\(number)", port: 1000 + number), "\(number)", of: .podman) }
        for _ in 0..<90 { _ = names(after: 1) }
        #expect(names().count == 200)
        #expect(board.statuses(of: [.podman]).map(\.services) == [200])
    }

    @Test("many at once begin one after another, and the turn says when to go on")
    mutating func starts() throws {
        for number in 0..<200 { board.saw(web("c\(number)"), "\(number)", of: .podman) }
        var turn = board.turn(at: now)
        #expect(turn.requests.count == 64)
        var turns = 0
        while turn.requests.count < 200, turns < 1000 {
            now = try #require(turn.next)
            turn = board.turn(at: now)
            turns += 1
        }
        #expect(turn.requests.count == 200 && turn.next == nil)
        #expect((.milliseconds(108_000) ... .milliseconds(109_000)).contains(now))
    }

    @Test("a runtime that is away: what it runs stays for 30 s, and is there again when it answers")
    mutating func away() {
        board.saw(web("a"), "1", of: .podman)
        board.saw(web("b"), "1", of: .docker)
        #expect(names() == ["a", "b"])
        board.failed(.podman, "no socket", at: now)
        #expect(board.turn(at: now).next == now + .seconds(30))
        #expect(names(after: 20) == ["a", "b"])
        board.failed(.podman, "no socket", at: now)
        #expect(names(after: 11) == ["b"])
        #expect(board.statuses(of: [.podman]).map(\.failure) == ["no socket"])
        board.listed(["1"], of: .podman, at: now)
        #expect(names(after: 1) == ["a", "b"])
    }

    @Test("more than the number that is permitted: who came first stays")
    mutating func number() {
        var grants = LabelGrants()
        (grants.types, grants.number) = (nil, 2)
        board = LabelBoard([.podman], grants)
        for name in ["a", "b", "c"] { board.saw(web(name), name, of: .podman) }
        #expect(names() == ["a", "b"])
        for name in ["d", "e"] { board.saw(web(name), name, of: .podman) }
        #expect(board.turn(at: now).news.isEmpty, "the source has its line")
        for name in ["d", "e"] { board.saw(nil, name, of: .podman) }
        #expect(names() == ["a", "b"])
        let refused = board.statuses(of: [.podman]).flatMap(\.refused)
        #expect(refused.map(\.name) == ["c"] && refused.first?.reason.contains("number") == true, "\(refused)")
        board.saw(nil, "a", of: .podman)
        #expect(names() == ["b", "c"])
        #expect(board.statuses(of: [.podman]).flatMap(\.refused).isEmpty)
    }

    @Test("a source that breaks off again and again is logged once, and again where it holds")
    mutating func breaksOff() {
        var news: [String] = []
        func isTrouble(_ texts: [String]) -> [Bool] { texts.map { $0.contains("not followed") } }
        for _ in 0..<100 {
            board.failed(.podman, "it ended", at: now)
            news += board.turn(at: now).news.map(\.text)
            now += .seconds(15)
            board.listed([], of: .podman, at: now)
            news += board.turn(at: now).news.map(\.text)
            now += .seconds(1)
        }
        #expect(isTrouble(news) == [true, false], "\(news)")
        board.failed(.podman, "it ended", at: now)
        #expect(board.turn(at: now).news.isEmpty && board.turn(at: now).next == now + .seconds(30))
        now += .seconds(30)
        #expect(isTrouble(board.turn(at: now).news.map(\.text)) == [true])
        board.listed([], of: .podman, at: now)
        #expect(board.turn(at: now).news.isEmpty && board.turn(at: now).next == now + .seconds(30))
        now += .seconds(30)
        #expect(isTrouble(board.turn(at: now).news.map(\.text)) == [false])
        news = (0..<100).flatMap { number in
            board.failed(.podman, "\(number)", at: now)
            return board.turn(at: now).news.map(\.text)
        }
        #expect(news.count == 15)
    }

    @Test("of one that is not told, what was known stays; it is logged once, and in the status until it is told")
    mutating func notTold() {
        board.saw(web("a"), "1", of: .podman)
        let kept = (0..<3).map { _ in board.notTold("1", "no answer", of: .podman) }
        let news = board.turn(at: now).news.map(\.text)
        #expect(kept == [true, true, true] && news == [#"a label of "a" (podman): no answer"#])
        #expect(names() == ["a"])
        #expect(board.statuses(of: [.podman]).flatMap(\.refused).map(\.reason) == ["no answer"])
        board.saw(web("a"), "1", of: .podman)
        #expect(board.statuses(of: [.podman]).flatMap(\.refused).isEmpty)
        #expect(board.notTold("2", "no answer", of: .podman) && board.notTold("2", "no answer", of: .podman))
        #expect(board.statuses(of: [.podman]).flatMap(\.refused).map(\.name) == ["2"])
        #expect(names() == ["a"] && board.statuses(of: [.podman]).map(\.running) == [1])
    }

    @Test("what two containers want, as an alias, counts once")
    mutating func shared() throws {
        var grants = LabelGrants()
        (grants.types, grants.aliases) = (nil, [try HostName("wiki.local")])
        board = LabelBoard([.podman], grants)
        for id in ["a", "b"] {
            var subject = web(id)
            subject.labels.append(("alias", "wiki"))
            board.saw(subject, id, of: .podman)
        }
        #expect(names().count == 4)
        #expect(board.statuses(of: [.podman]).map(\.services) == [3])
    }

    @Test("a bad label is told once, whatever the container does; 10,000 containers find room for 1024")
    mutating func told() {
        var bad = web("a")
        bad.labels.append(("no\nlabel", "x"))
        for id in 0..<50 {
            board.saw(bad, "\(id)", of: .podman)
            board.saw(nil, "\(id)", of: .podman)
        }
        let news = board.turn(at: now).news
        #expect(news.count == 1 && news.first?.isTrouble == true && news.first?.text.contains("no\\u{A}label") == true)
        for id in 0..<10_000 {
            bad = web("c\(id)")
            bad.labels.append(("no", "x"))
            board.saw(bad, "\(id)", of: .podman)
        }
        #expect(board.turn(at: now).news.count <= 1024)
        let status = board.statuses(of: [.podman]).first
        #expect(status?.running == 1024 && status?.refused.count == 64)
        #expect(status?.failure == "8976 more than 1024 are left out", "\(status?.failure ?? "")")
        for id in 1024..<5000 { board.saw(web("c\(id)"), "\(id)", of: .podman) }
        let rest = Set((2048..<5000).map(String.init))
        board.listed(Set((0..<5000).map(String.init)), of: .podman, without: rest, at: now)
        board.saw(nil, "4999", of: .podman)
        #expect(board.statuses(of: [.podman]).map(\.failure) == ["3975 more than 1024 are left out"])
    }
}

/// Which events of a runtime matter.
@Suite("events of containers")
struct RuntimeEventTests {
    private static func line(_ action: String, _ attributes: String = #""io.discoverd.publish":"_http._tcp""#) -> String
    {
        #"{"status":"\#(action)","id":"e2b4","Type":"container","Action":"\#(action)","Actor":{"ID":"e2b4","Attributes":{\#(attributes)}}}"#
            + "\n"
    }

    private static func read(_ text: String, known: Set<String> = []) -> [RuntimeEvents.Event] {
        var events = RuntimeEvents(readsTraefik: false)
        // In pieces of any size.
        return Array(text.utf8).reduce(into: []) { $0 += events.received([$1]) { known.contains($0) } }
    }

    @Test("starts, ends and health of containers with labels, or that had some; what else happens to them is nobody's")
    func events() {
        #expect(Self.read(Self.line("start") + "\n" + Self.line("die")) == [.changed("e2b4"), .stopped("e2b4")])
        #expect(Self.read(Self.line("health_status: healthy")) == [.changed("e2b4")])
        #expect(Self.read(Self.line("exec_died") + Self.line("create")).isEmpty)
        #expect(Self.read(Self.line("start", #""name":"x""#)).isEmpty)
        #expect(Self.read(Self.line("die", ""), known: ["e2b4"]) == [.stopped("e2b4")])
        #expect(Self.read(#"{"Type":"image","Action":"pull","Actor":{"ID":"e2b4"}}"# + "\n").isEmpty)
    }

    @Test("what is no event, or too long, is a gap; an id that is none leads nowhere")
    func broken() {
        #expect(Self.read("}\n" + Self.line("start")) == [.lost, .changed("e2b4")])
        #expect(Self.read("[]\n1\n") == [.lost, .lost])
        let long = String(repeating: "x", count: RuntimeEvents.longestLine)
        var events = RuntimeEvents(readsTraefik: false)
        var seen = (0..<3).flatMap { _ in events.received(Array(long.utf8)) { _ in true } }
        #expect(seen.isEmpty)
        seen = events.received(Array(("\n" + Self.line("start")).utf8)) { _ in true }
        #expect(seen == [.lost, .changed("e2b4")])
        for id in ["", "../../secrets", "a?b", "a\nb", String(repeating: "a", count: 129)] {
            #expect(!RuntimeEvents.isID(id))
        }
    }

    @Test("of a list, those with labels that matter, or without a word of them")
    func list() throws {
        let text =
            #"[{"Id":"a","Labels":{"io.discoverd.pubish":"x"}},{"Id":"b","Labels":{"x":"y"}},{"Id":"c"},"#
            + #"{"Id":"d","Labels":null},{"Id":"e","Labels":{"traefik.http.routers.w.rule":"x"}},{"Id":"../f"}]"#
        let list = try JSONReader.read(Array(text.utf8))
        #expect(RuntimeEvents.ids(ofList: list, readsTraefik: false) == ["a", "c"])
        #expect(RuntimeEvents.ids(ofList: list, readsTraefik: true) == ["a", "c", "e"])
    }

    @Test("one that is not told is looked at later each time, up to 5 minutes, whatever lists and events say")
    func again() {
        var (schedule, now) = (LookSchedule(), Duration.zero)
        var pauses: [Duration] = []
        schedule.listed("a", at: now)
        for _ in 0..<8 {
            let id = schedule.take(at: now)
            #expect(id == "a")
            schedule.lookAgain("a", at: now)
            schedule.listed("a", at: now)
            _ = schedule.add("a", at: now)
            let next = schedule.next ?? .zero
            pauses.append(next - now)
            now = next
        }
        #expect(pauses == [5, 10, 20, 40, 80, 160, 300, 300].map { .seconds($0) })
        schedule.forget("a")
        _ = schedule.add("a", at: now)
        #expect(schedule.next == now + LookSchedule.delay)
        _ = schedule.take(at: now + LookSchedule.delay)
        schedule.lookAgain("a", at: now)
        #expect(schedule.next == now + .seconds(5))
        _ = schedule.take(at: now + .seconds(5))
        schedule.wasTold("a")
        schedule.listed("a", at: now)
        #expect(schedule.next == now)
    }

    @Test("tries come later each time, but after one that has lasted")
    func retries() {
        var pause = RetryPause()
        let pauses = [0, 1, 14, 1, 1, 1, 15, 1].map { pause.failed(after: .seconds($0)) }
        #expect(pauses == [1, 2, 4, 8, 15, 15, 1, 2].map { .seconds($0) })
        #expect(RetryPause.longest < LabelBoard.grace, "one try that fails withdraws nothing")
    }

    @Test("a wait of parts of a second lasts as long, and ends where the bell rings")
    func bell() {
        let (bell, clock) = (StopBell(), ContinuousClock())
        #expect(clock.measure { bell.wait(.milliseconds(50)) } >= .milliseconds(50))
        bell.ring()
        #expect(clock.measure { bell.wait(.seconds(60)) } < .seconds(30))
    }

    @Test("a container is looked at once for many events, and not twice in a second")
    func schedule() {
        var schedule = LookSchedule()
        let added = (0..<100).map { _ in schedule.add("a", at: .seconds(1)) }
        #expect(!added.contains(false) && schedule.next == .milliseconds(1200))
        let looks = [schedule.take(at: .seconds(1)), schedule.take(at: .milliseconds(1200))]
        #expect(looks == [nil, "a"] && schedule.next == nil)
        _ = schedule.add("a", at: .milliseconds(1250))
        #expect(schedule.next == .milliseconds(2200))
        let many = (0..<3000).map { schedule.add("\($0)", at: .seconds(2)) }
        #expect(many.count { $0 } == LookSchedule.maximum - 1)
    }
}

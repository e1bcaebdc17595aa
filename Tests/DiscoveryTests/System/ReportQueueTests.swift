import Testing

@testable import DiscoverySystem

@Suite struct ReportQueueTests {
    private let queue = ReportQueue<Int>()
    private let log = Locked<[String]>([])

    private func add(_ text: String, to receiver: Int?) {
        queue.add(to: receiver) { [log] in log.withLock { $0.append(text) } }
    }

    private var told: [String] {
        queue.run()
        return log.withLock { $0 }
    }

    @Test func reportsAreMadeInOrder() {
        for text in ["a", "b", "c"] { add(text, to: nil) }
        #expect(told == ["a", "b", "c"])
        #expect(told.count == 3)
    }

    @Test func nothingBeginsForOneThatIsDropped() {
        // From within a report, when what follows has been taken out already, and from outside.
        queue.add(to: 1) { [queue] in queue.drop(2) }
        add("two", to: 2)
        add("one", to: 1)
        add("three", to: 3)
        queue.drop(3)
        #expect(told == ["one"])
    }

    @Test func whatAReportAddsComesAfterIt() {
        queue.add(to: 1) { [queue, log] in
            queue.add(to: 1) { log.withLock { $0.append("second") } }
            queue.run()
            log.withLock { $0.append("first") }
        }
        #expect(told == ["first", "second"])
    }
}

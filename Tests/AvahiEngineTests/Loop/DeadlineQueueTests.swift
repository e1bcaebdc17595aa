import System
import Testing

@testable import AvahiEngine

@Suite struct DeadlineQueueTests {
    @Test func givesElementsInTheOrderOfTheirDeadlines() {
        var generator = SystemRandomNumberGenerator()
        for count in [0, 1, 2, 3, 10, 257] {
            let deadlines = (0..<count).map { _ in Int64.random(in: 0..<100, using: &generator) }
            var queue = DeadlineQueue<Int64>()
            for deadline in deadlines { queue.insert(deadline, at: MonotonicTime(microseconds: deadline)) }
            var taken: [Int64] = []
            while let first = queue.first {
                #expect(first == MonotonicTime(microseconds: first.microseconds))
                guard let element = queue.removeFirst() else { break }
                #expect(element == first.microseconds)
                taken.append(element)
            }
            #expect(taken == deadlines.sorted())
            #expect(queue.removeFirst() == nil)
        }
    }

    @Test func keepsTheOrderWhenSomeAreTakenOut() {
        var queue = DeadlineQueue<Int64>()
        for number in (Int64(0)..<100).reversed() { queue.insert(number, at: MonotonicTime(microseconds: number)) }
        queue.removeAll { !$0.isMultiple(of: 3) }
        var taken: [Int64] = []
        while let element = queue.removeFirst() { taken.append(element) }
        #expect(taken == (Int64(0)..<100).filter { $0.isMultiple(of: 3) })
    }
}

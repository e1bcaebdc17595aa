import Testing

@testable import AvahiEngine

@Suite("a line of jobs") struct BoundedLineTests {
    /// What was begun, in its order.
    private final class Begun { var jobs: [Int] = [] }

    @Test("begins them in their order, no more at a time than it may")
    func order() {
        let (line, begun) = (BoundedLine(atMost: 3), Begun())
        for job in 0..<100 {
            line.add {
                begun.jobs.append(job)
                return true
            }
        }
        for count in 3..<100 {
            #expect(begun.jobs == Array(0..<count))
            line.finished()
        }
        #expect(begun.jobs == Array(0..<100))
    }

    @Test("passes over what is not wanted any more, and forgets what it is told to")
    func unwanted() {
        let (line, begun) = (BoundedLine(atMost: 1), Begun())
        for job in 0..<10 {
            line.add {
                guard job.isMultiple(of: 3) else { return false }
                begun.jobs.append(job)
                return true
            }
        }
        line.finished()
        #expect(begun.jobs == [0, 3])
        line.clear()
        line.finished()
        #expect(begun.jobs == [0, 3])
    }

    @Test("what must not wait takes a place all the same")
    func now() {
        let (line, begun) = (BoundedLine(atMost: 1), Begun())
        for job in 0..<3 {
            line.beginNow {
                begun.jobs.append(job)
                return true
            }
        }
        line.add {
            begun.jobs.append(3)
            return true
        }
        line.finished()
        line.finished()
        #expect(begun.jobs == [0, 1, 2])
        line.finished()
        #expect(begun.jobs == [0, 1, 2, 3])
    }

    @Test("a hundred thousand that are over as they begin are not begun within each other")
    func shallow() {
        let (line, begun) = (BoundedLine(atMost: 1), Begun())
        var depth = 0
        line.beginNow { true }
        for job in 0..<100_000 {
            line.add {
                depth += 1
                #expect(depth == 1)
                begun.jobs.append(job)
                line.finished()
                depth -= 1
                return true
            }
        }
        line.finished()
        #expect(begun.jobs.count == 100_000)
    }
}

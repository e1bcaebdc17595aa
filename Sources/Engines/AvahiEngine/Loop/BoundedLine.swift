/// Jobs that begin in the order in which they came, a few at a time. Used only on the loop's thread.
final class BoundedLine {
    private let limit: Int
    private var waiting: [() -> Bool] = []
    private var head = 0
    private var underWay = 0
    private var isBeginning = false

    init(atMost limit: Int) { self.limit = limit }

    /// - Parameter begin: begins the job, which calls `finished` in the end; false: it is not wanted any more.
    func add(_ begin: @escaping () -> Bool) {
        waiting.append(begin)
        next()
    }

    /// Begins a job at once, however many are under way.
    func beginNow(_ begin: () -> Bool) {
        underWay += 1
        if !begin() { finished() }
    }

    /// A job that was begun is over.
    func finished() {
        underWay -= 1
        next()
    }

    /// Nothing that waits is wanted any more.
    func clear() {
        waiting = []
        head = 0
    }

    private func next() {
        // Jobs that fail at once end here before the next one begins, however many there are.
        guard !isBeginning else { return }
        isBeginning = true
        while underWay < limit, head < waiting.count {
            let begin = waiting[head]
            head += 1
            // What was begun is released once it is at least half of all.
            if head * 2 > waiting.count {
                waiting.removeFirst(head)
                head = 0
            }
            beginNow(begin)
        }
        isBeginning = false
    }
}

import DNSSD
import Discovery
import Synchronization
import Testing

@Suite("Members in order of arrival")
struct ArrivalOrderTests {
    @Test(
        "Random members come and go, and the oldest and newest are those of an array", arguments: 0..<4 as Range<UInt64>
    )
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (order, naive): (ArrivalOrder<Int>, [Int]) = (ArrivalOrder(), [])
        func remove(_ member: Int?) {
            guard let member else { return }
            order.remove(member)
            naive.removeAll { $0 == member }
        }
        for _ in 0..<5000 {
            let member = Int.random(in: 0..<50, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: remove(order.oldest)
            case 1: remove(order.newest)
            case 2: remove(member)
            default:
                order.insert(member)
                if !naive.contains(member) { naive.append(member) }
            }
            #expect(order.oldest == naive.first && order.newest == naive.last && order.count == naive.count)
        }
    }

    @Test("Taking one of many takes the same work however many there are", arguments: [1000, 16_000])
    func work(count: Int) {
        let work = Work()
        var order = ArrivalOrder<Worked>()
        for number in 0..<count { order.insert(Worked(number: number, work: work)) }
        // Each that goes makes room for one that waits, which is put back at the end.
        for _ in 0..<count {
            guard let oldest = order.oldest else { break }
            order.remove(oldest)
            order.insert(oldest)
        }
        for _ in 0..<count / 2 { if let newest = order.newest { order.remove(newest) } }
        #expect(work.count < 20 * count, "\(work.count) for \(count)")
    }
}

/// Counts how often members are hashed, which every look at one costs.
private final class Work: Sendable {
    private let hashes = Atomic(0)

    var count: Int { hashes.load(ordering: .relaxed) }
    func note() { hashes.add(1, ordering: .relaxed) }
}

private struct Worked: Hashable, Sendable {
    let number: Int
    let work: Work

    static func == (one: Worked, other: Worked) -> Bool { one.number == other.number }

    func hash(into hasher: inout Hasher) {
        work.note()
        hasher.combine(number)
    }
}

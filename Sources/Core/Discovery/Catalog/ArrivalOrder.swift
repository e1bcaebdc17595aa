/// A set in order of arrival. Each operation costs the same however many members there are.
package struct ArrivalOrder<Member: Hashable & Sendable>: Sendable {
    private var tickets: [Member: UInt64] = [:]
    /// Includes members that have left.
    private var order: [(ticket: UInt64, member: Member)] = []
    private var first = 0
    private var lastTicket: UInt64 = 0

    package init() {}

    package var count: Int { tickets.count }
    package var isEmpty: Bool { tickets.isEmpty }

    package func contains(_ member: Member) -> Bool { tickets[member] != nil }

    /// The member that came last.
    package var newest: Member? {
        mutating get {
            while order.count > first, let last = order.last, tickets[last.member] != last.ticket { order.removeLast() }
            return isEmpty ? nil : order.last?.member
        }
    }

    /// The member that came first.
    package var oldest: Member? {
        mutating get {
            while first < order.count, tickets[order[first].member] != order[first].ticket { first += 1 }
            return isEmpty ? nil : order[first].member
        }
    }

    package mutating func insert(_ member: Member) {
        guard tickets[member] == nil else { return }
        lastTicket += 1
        tickets[member] = lastTicket
        order.append((lastTicket, member))
    }

    package mutating func remove(_ member: Member) {
        guard tickets.removeValue(forKey: member) != nil, order.count > 2 * count + 16 else { return }
        order = order[first...].filter { tickets[$0.member] == $0.ticket }
        first = 0
    }
}

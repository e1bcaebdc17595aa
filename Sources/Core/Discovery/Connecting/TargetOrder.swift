import DNSSD

/// Orders the SRV records of a service for dialling (RFC 2782, "Priority" and "Weight").
enum TargetOrder {
    /// Sorts by priority; within one priority, at random in proportion to the weights.
    /// - Parameter seed: the same seed gives the same order.
    static func sorted(_ targets: Set<ServiceTarget>, seed: UInt64) -> [ServiceTarget] {
        var generator = SplitMix(state: seed)
        let levels = Dictionary(grouping: targets, by: \.priority).sorted { $0.key < $1.key }
        return levels.flatMap { level in chosen(level.value.sorted(by: precedes), &generator) }
    }

    /// Puts weight 0 first, as the RFC asks: this leaves such records a small chance beside others.
    private static func precedes(_ one: ServiceTarget, _ other: ServiceTarget) -> Bool {
        (one.weight == 0 ? 0 : 1, one.host.text, one.weight) < (
            other.weight == 0 ? 0 : 1, other.host.text, other.weight
        )
    }

    private static func chosen(_ targets: [ServiceTarget], _ generator: inout SplitMix) -> [ServiceTarget] {
        var (left, result) = (targets, [ServiceTarget]())
        while !left.isEmpty {
            let sum = left.reduce(UInt64(0)) { $0 + UInt64($1.weight) }
            let mark = UInt64.random(in: 0...sum, using: &generator)
            var running: UInt64 = 0
            let index = left.firstIndex { target in
                running += UInt64(target.weight)
                return running >= mark
            }
            result.append(left.remove(at: index ?? left.startIndex))
        }
        return result
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014): a generator that a seed can repeat.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

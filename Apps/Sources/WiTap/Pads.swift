/// One of nine pads, 1 to 9.
package struct Pad: Hashable, Sendable, CaseIterable {
    /// 1 to 9.
    package let number: Int

    /// Nil for any other number.
    package init?(_ number: Int) {
        guard (1...9).contains(number) else { return nil }
        self.number = number
    }

    /// All nine.
    package static let allCases = (1...9).compactMap { Pad($0) }
}

/// A player's action on a pad: one byte on the wire.
package enum Touch: Hashable, Sendable {
    case down(Pad)
    case up(Pad)

    /// `0x80 | pad` for down, `pad` for up.
    package var byte: UInt8 {
        switch self {
        case .down(let pad): 0x80 | UInt8(pad.number)
        case .up(let pad): UInt8(pad.number)
        }
    }

    /// Nil for a byte without a meaning, which must be ignored.
    package init?(byte: UInt8) {
        guard let pad = Pad(Int(byte & 0x7F)) else { return nil }
        self = byte & 0x80 != 0 ? .down(pad) : .up(pad)
    }

    /// The pad.
    package var pad: Pad {
        switch self {
        case .down(let pad), .up(let pad): pad
        }
    }

    /// Whether the pad goes down.
    package var isDown: Bool {
        if case .down = self { true } else { false }
    }
}

/// The pads of one player that are down.
package struct Pads: Hashable, Sendable {
    package private(set) var down: Set<Pad> = []

    package init() {}

    /// - Returns: whether anything changed.
    @discardableResult
    package mutating func touched(_ touch: Touch) -> Bool {
        switch touch {
        case .down(let pad): down.insert(pad).inserted
        case .up(let pad): down.remove(pad) != nil
        }
    }
}

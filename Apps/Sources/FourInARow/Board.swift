/// Whose disc.
package enum Player: Hashable, Sendable {
    /// Who hosts the game, and begins the first one.
    case host
    /// Who joined it.
    case guest

    /// The opponent.
    package var other: Player { self == .host ? .guest : .host }
}

/// A place on the board; row 0 is the lowest.
package struct Place: Hashable, Sendable {
    package let column: Int
    package let row: Int

    package init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }
}

/// Seven columns of up to six discs.
package struct Board: Hashable, Sendable {
    package static let columns = 7
    package static let rows = 6
    /// How many in a row win.
    package static let winning = 4

    private var discs: [[Player]] = Array(repeating: [], count: columns)

    package init() {}

    /// The disc at a place, if there is one.
    package subscript(place: Place) -> Player? {
        guard discs.indices.contains(place.column), discs[place.column].indices.contains(place.row) else { return nil }
        return discs[place.column][place.row]
    }

    /// Whether a column takes no more discs. There is no column outside 0 to 6.
    package func isFull(_ column: Int) -> Bool { discs[column].count == Self.rows }

    /// Whether no column takes more discs.
    package var isFull: Bool { discs.allSatisfy { $0.count == Self.rows } }

    /// Lets a disc fall into a column that is not full.
    mutating func drop(_ player: Player, into column: Int) -> Place {
        discs[column].append(player)
        return Place(column: column, row: discs[column].count - 1)
    }

    /// The longest row through a place in one of the four directions, when it is long enough to win.
    package func row(through place: Place) -> [Place]? {
        guard let player = self[place] else { return nil }
        for (across, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
            let line =
                run(from: place, -across, -up, of: player).reversed() + [place]
                + run(from: place, across, up, of: player)
            if line.count >= Self.winning { return line }
        }
        return nil
    }

    private func run(from place: Place, _ across: Int, _ up: Int, of player: Player) -> [Place] {
        var places: [Place] = []
        var next = Place(column: place.column + across, row: place.row + up)
        while self[next] == player {
            places.append(next)
            next = Place(column: next.column + across, row: next.row + up)
        }
        return places
    }
}

/// The owner of a disc.
package enum Player: Hashable, Sendable {
    /// The player who hosts the game and starts the first one.
    case host
    /// The player who joined.
    case guest

    /// The opponent.
    package var other: Player { self == .host ? .guest : .host }
}

/// A cell of the board; row 0 is the lowest.
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
    /// How many discs in a row win.
    package static let winning = 4

    private var discs: [[Player]] = Array(repeating: [], count: columns)

    package init() {}

    /// The disc in a cell, if any.
    package subscript(place: Place) -> Player? {
        guard discs.indices.contains(place.column), discs[place.column].indices.contains(place.row) else { return nil }
        return discs[place.column][place.row]
    }

    /// Whether a column is full. The column must be 0 to 6.
    package func isFull(_ column: Int) -> Bool { discs[column].count == Self.rows }

    /// Whether all columns are full.
    package var isFull: Bool { discs.allSatisfy { $0.count == Self.rows } }

    /// Drops a disc into a column that is not full.
    mutating func drop(_ player: Player, into column: Int) -> Place {
        discs[column].append(player)
        return Place(column: column, row: discs[column].count - 1)
    }

    /// The longest row through a cell in any of the four directions, if it is long enough to win.
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

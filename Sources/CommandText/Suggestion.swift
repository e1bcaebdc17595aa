/// Suggests what a mistyped word was meant to be.
package enum Suggestion {
    /// The nearest known word, of several the first; nil if none is near.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let word = word.lowercased()
        guard word.count > 1, word.count <= 64 else { return nil }
        if let longer = known.filter({ $0.hasPrefix(word) }).min(by: { $0.count < $1.count }) { return longer }
        // Allow one slip per four letters.
        let limit = max(1, word.count / 4)
        let near = known.map { (word: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
        return near.min { $0.distance < $1.distance }?.word
    }

    /// The number of letters to add, remove, change, or swap with the next one.
    static func distance(_ one: String, _ other: String) -> Int {
        let (a, b) = (Array(one.unicodeScalars), Array(other.unicodeScalars))
        var rows = [Array(0...b.count)]
        for (i, letter) in a.enumerated() {
            var row = [i + 1]
            for (j, candidate) in b.enumerated() {
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == candidate ? 0 : 1))
                if i > 0, j > 0, letter == b[j - 1], a[i - 1] == candidate { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}

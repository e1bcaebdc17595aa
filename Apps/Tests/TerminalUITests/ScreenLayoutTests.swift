import CommandText
import TerminalUI
import Testing

/// Where things are on a screen.
@Suite("Screen layout")
struct ScreenLayoutTests {
    @Test("a list shows the selected row wherever it is, and says how many are below")
    func list() {
        let names = (1...9).map { "n\($0)" }
        for selected in 0..<9 {
            var canvas = Canvas(ScreenSize(columns: 20, rows: 4))
            let first = canvas.put(list: names, selected: selected, rows: 0..<4)
            #expect(canvas.text[selected - first] == "  > n\(selected + 1)")
            #expect(canvas.text[3].contains("more") == (first + 4 < 9), "\(canvas.text)")
        }
    }

    @Test("a screen's parts are in it and apart, from 5 rows on")
    func layout() {
        for rows in 5...60 {
            let layout = ScreenLayout(ScreenSize(columns: 80, rows: rows))
            let parts = [layout.title] + Array(layout.body) + Array(layout.message) + [layout.keys]
            #expect(parts == parts.sorted() && Set(parts).count == parts.count, "\(rows): \(parts)")
            #expect(parts.allSatisfy { (0..<rows).contains($0) } && !layout.message.isEmpty, "\(rows): \(parts)")
        }
    }
}

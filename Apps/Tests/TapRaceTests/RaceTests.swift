import CommandText
import TapRace
import TerminalUI
import Testing

/// The game as a value.
@Suite("Tap race")
struct RaceTests {
    @Test(
        "both bars and the time are on the screen, whatever its size; the leader has the longer bar",
        arguments: [30, 80, 200], [8, 24, 60])
    func screen(_ columns: Int, _ rows: Int) throws {
        var race = Race()
        for _ in 0..<400 { _ = race.tapped() }
        race.received(TapMessage(count: 200, isOver: false))
        var canvas = Canvas(ScreenSize(columns: columns, rows: rows))
        RaceView.race(race, own: "h1", opponent: "h\u{1B}2", left: 10, of: 30, on: &canvas)
        let lines = canvas.text
        for text in ["h1 (you)", "10 s left", #"h\u{1B}2"#, "400", "200"] {
            #expect(lines.contains { $0.contains(text) }, "\(text): \(lines)")
        }
        let lengths = Set(lines.filter { $0.hasPrefix("  █") }.map(\.count))
        #expect(lengths == [columns - 2, 2 + (columns - 4) / 2], "\(lines)")
    }

    @Test("the message format is unchanged; anything else is rejected")
    func messages() {
        #expect(
            String(decoding: TapMessage(count: 17, isOver: false).bytes, as: UTF8.self) == #"{"code":0,"count":17}"#)
        #expect(TapMessage(Array(#"{"count":3,"code":1}"#.utf8)) == TapMessage(count: 3, isOver: true))
        for text in [
            "", "{}", #"{"code":2,"count":1}"#, #"{"code":0}"#, #"{"code":0,"count":-1}"#, #"{"code":0,"count":1e9}"#,
        ] {
            #expect(TapMessage(Array(text.utf8)) == nil, "\(text)")
        }
        #expect(TapMessage(Array(#"{"code":0,"count":1\#(String(repeating: " ", count: 1000))}"#.utf8)) == nil)
    }

    @Test("counts never decrease; nothing follows the final one; the outcome is known when both are done")
    func race() {
        var race = Race()
        #expect(race.tapped() == TapMessage(count: 1, isOver: false))
        race.received(TapMessage(count: 5, isOver: false))
        race.received(TapMessage(count: 4, isOver: false))
        #expect(race.theirs == 5)
        #expect(race.timeIsUp() == TapMessage(count: 1, isOver: true))
        #expect(race.tapped() == nil)
        #expect(race.outcome == nil)
        race.received(TapMessage(count: 6, isOver: true))
        race.received(TapMessage(count: 900, isOver: false))
        #expect(race.outcome == .lost)
        #expect(race.theirs == 6)
    }
}

#if Commands
import CommandText
import DNSSD
import DiscoveryControl
import DiscoveryJSON
import Testing

@testable import DiscoverdCommands

/// `browse --live` as a value: events, keys and the time in, a screen out.
@Suite("the live table")
struct LiveTableTests {
    private let start = ContinuousClock.now

    private func service(
        _ name: String, _ type: String = "_http._tcp", host: String? = nil, txt: KeyValuePairs<String, String?> = [:],
        _ state: DiscoveredService.State = .found
    ) throws -> DiscoveredService {
        DiscoveredService(
            instance: ServiceInstance(name: ServiceName(observed: name), type: try ServiceType(type)),
            interfaces: [NetworkInterface(index: 2, name: "eth0")], state: host == nil ? state : .resolved,
            host: try host.map { try HostName($0) }, port: host == nil ? nil : try Port(80), txt: try TXTRecord(txt))
    }

    private func table(
        _ detail: ServiceDetail = .identity, isUTF8: Bool = true, _ order: ListOrder = .name, hasType: Bool = false
    ) -> LiveTable {
        let columns = ServiceColumns(
            detail, tellsEvents: true, hasType: hasType, hasDomain: false, showsKeys: false)
        return LiveTable(
            LiveTable.Look(
                title: "_http._tcp", columns: columns.all, fields: { $0.textFields(detail) },
                details: { ServiceCard($0).lines }, isUTF8: isUTF8),
            order: order)
    }

    private func lines(_ table: inout LiveTable, _ columns: Int = 40, _ rows: Int = 10) -> [String] {
        table.canvas(ScreenSize(columns: columns, rows: rows)).text
    }

    /// The names on the screen, which have no blanks.
    private func names(_ table: inout LiveTable, rows: Int = 10) -> [String] {
        lines(&table, 40, rows).dropFirst(2).dropLast().compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            return words.first.map { ["+", "~", "-"].contains($0) ? words[1] : $0 }
        }
    }

    private func type(_ text: String, _ table: inout LiveTable) {
        for character in text { _ = table.key(.character(character)) }
    }

    @Test(
        "in the order of names whatever their case, one line each, with headings; what was there at the start is no news"
    )
    func order() throws {
        var table = table()
        for name in ["zeta", "Beta", "alpha"] { table.found(try service(name), now: start) }
        #expect(lines(&table)[0] == "_http._tcp: 3 services so far")
        table.isSettled = true
        #expect(lines(&table)[0] == "_http._tcp: 3 services")
        #expect(lines(&table)[1].hasPrefix("  NAME"))
        #expect(names(&table) == ["alpha", "Beta", "zeta"])
        #expect(lines(&table)[2].hasPrefix("  alpha"))
        table.found(try service("delta"), now: start)
        #expect(lines(&table)[4].hasPrefix("+ delta"))
        #expect(lines(&table).last?.hasPrefix("/ filter") == true)
    }

    @Test("news are over after 10 s; what is gone stays, dim, for 30 s, unless it comes back")
    func news() throws {
        var table = table()
        table.isSettled = true
        table.found(try service("a"), now: start)
        table.found(try service("b"), now: start)
        #expect(table.list.nextEnd == start + .seconds(10))
        table.passed(now: start + .seconds(10))
        #expect(table.list.nextEnd == nil)
        #expect(lines(&table)[2].hasPrefix("  a"))
        let later = start + .seconds(20)
        table.lost(try service("a"), now: later)
        table.lost(try service("b"), now: later)
        table.found(try service("b"), now: later + .seconds(1))
        #expect(lines(&table)[2].hasPrefix("- a") && lines(&table)[3].hasPrefix("+ b"))
        #expect(lines(&table)[0] == "_http._tcp: 1 service, 1 gone")
        table.passed(now: later + .seconds(29))
        #expect(names(&table) == ["a", "b"])
        table.passed(now: later + .seconds(30))
        #expect(names(&table) == ["b"])
        #expect(lines(&table)[0] == "_http._tcp: 1 service")
    }

    @Test("to be resolved is no change; another TXT record is")
    func changed() throws {
        var table = table(.full)
        table.isSettled = true
        table.found(try service("a"), now: start)
        table.passed(now: start + .seconds(10))
        table.found(try service("a", host: "h.local"), now: start + .seconds(11))
        #expect(lines(&table, 80)[2].hasPrefix("  a"))
        table.found(try service("a", host: "h.local", txt: ["x": "1"]), now: start + .seconds(12))
        #expect(lines(&table, 80)[2].hasPrefix("~ a"))
    }

    @Test("/ filters as it is typed, in all that is shown of a service; Enter keeps it, Escape does not")
    func filter() throws {
        var table = table()
        table.found(try service("Printer"), now: start)
        table.found(try service("spring", host: "h.local", txt: ["note": "PRINTS"]), now: start)
        table.found(try service("other"), now: start)
        type("/prinT", &table)
        #expect(names(&table) == ["Printer", "spring"])
        #expect(lines(&table).last == "/prinT")
        // What comes is filtered too.
        table.found(try service("print2"), now: start)
        table.found(try service("quiet"), now: start)
        #expect(names(&table) == ["print2", "Printer", "spring"])
        table.lost(try service("print2"), now: start)
        type("eR", &table)
        #expect(names(&table) == ["Printer"])
        #expect(table.key(.enter) == .stay && table.mode == .list)
        #expect(lines(&table, 80)[0] == "_http._tcp: 4 services, 1 gone; 1 match so far")
        #expect(table.key(.escape) == .stay)
        #expect(names(&table).count == 5)
        type("/zz", &table)
        #expect(names(&table).isEmpty)
        for _ in 0..<3 { _ = table.key(.backspace) }
        #expect(table.mode == .list && names(&table).count == 5)
    }

    @Test("a paste is text of the filter and no key; what is typed is bounded and escaped")
    func hostilePaste() {
        var table = table()
        for character in "q/\u{1B}" { #expect(table.key(.pasted(character)) == .stay) }
        #expect(table.mode == .list)
        type("/", &table)
        for _ in 0..<1000 { _ = table.key(.pasted("\u{202E}")) }
        #expect(table.list.filter.text.count == LiveFilter.limit)
        #expect(lines(&table).last?.contains("\u{202E}") == false)
        #expect(table.key(.character("q")) == .stay)
        _ = table.key(.escape)
        #expect(table.key(.character("q")) == .quit)
    }

    @Test("the selection stays with its service; when that is dropped, the one in its place has it")
    func selection() throws {
        var table = table()
        for name in ["b", "d", "f"] { table.found(try service(name), now: start) }
        _ = table.key(.down)
        table.found(try service("a"), now: start)
        table.found(try service("c"), now: start)
        #expect(table.list.instance(at: table.selectedIndex)?.name.text == "d")
        table.lost(try service("d"), now: start)
        #expect(table.list.instance(at: table.selectedIndex)?.name.text == "d")
        table.passed(now: start + .seconds(30))
        #expect(table.list.instance(at: table.selectedIndex)?.name.text == "f")
        for key in [Key.end, .down, .pageDown] { _ = table.key(key) }
        #expect(table.selectedIndex == 3)
        for key in [Key.home, .up, .pageUp] { _ = table.key(key) }
        #expect(table.selectedIndex == 0)
        for name in ["a", "b", "c", "f"] { table.lost(try service(name), now: start) }
        table.passed(now: start + .seconds(60))
        #expect(table.selectedIndex == 0 && table.key(.enter) == .stay && table.mode == .list)
    }

    @Test("a list that is longer than the screen scrolls with the selection")
    func scrolling() throws {
        var table = table()
        for number in 10..<60 { table.found(try service("n\(number)"), now: start) }
        #expect(names(&table) == (10..<17).map { "n\($0)" })
        for _ in 0..<8 { _ = table.key(.down) }
        #expect(names(&table) == (12..<19).map { "n\($0)" })
        _ = table.key(.end)
        #expect(names(&table) == (53..<60).map { "n\($0)" })
        // A taller screen is filled.
        #expect(names(&table, rows: 20) == (43..<60).map { "n\($0)" })
        _ = table.key(.up)
        #expect(names(&table) == (52..<59).map { "n\($0)" })
    }

    @Test("s changes the order; what changes its host moves")
    func sort() throws {
        var table = table(.full, .name, hasType: true)
        table.found(try service("a", "_ipp._tcp", host: "z.local"), now: start)
        table.found(try service("b", "_http._tcp", host: "y.local"), now: start)
        #expect(names(&table) == ["a", "b"])
        type("s", &table)
        #expect(names(&table) == ["b", "a"])
        type("s", &table)
        #expect(names(&table) == ["b", "a"])
        table.found(try service("a", "_ipp._tcp", host: "x.local"), now: start)
        #expect(names(&table) == ["a", "b"])
        type("s", &table)
        #expect(lines(&table).last?.contains("order: name") == true)
    }

    @Test("Enter shows details, which are resolved if need be and follow the service; Escape goes back")
    func details() throws {
        var table = table()
        let found = try service("tony")
        table.found(found, now: start)
        #expect(table.key(.enter) == .resolve(found.instance))
        #expect(lines(&table, 60)[1] == "name      tony")
        #expect(lines(&table, 60).contains("port      not known yet"))
        table.resolved(try service("tony", host: "h1.local", txt: ["path": "/x"]))
        #expect(lines(&table, 60).contains("host      h1.local"))
        #expect(lines(&table, 60).contains("txt       \"path=/x\""))
        table.lost(found, now: start)
        #expect(lines(&table, 60).contains("It is gone."))
        table.passed(now: start + .seconds(30))
        #expect(lines(&table, 60).contains("It is gone."))
        #expect(table.key(.escape) == .stay && table.mode == .list)
        table.found(try service("other", host: "h2.local"), now: start)
        #expect(table.key(.enter) == .stay)
        for _ in 0..<100 { _ = table.key(.down) }
        #expect(lines(&table, 60)[1].hasPrefix("port"))
    }

    @Test("hostile and wide names stay in their columns; ASCII where the terminal has no more; any size")
    func hostile() throws {
        let names = [
            "\u{1B}[2Jclear", "line\nbreak", "bidi\u{202E}x", "東京 東京 東京 東京 東京 東京 東京 東京", "🎉🎉",
            "e" + String(repeating: "\u{301}", count: 60), String(repeating: "x", count: 63), "❤️ \u{7}",
        ]
        for isUTF8 in [true, false] {
            var table = table(.full, isUTF8: isUTF8)
            for name in names { table.found(try service(name, host: "h.local"), now: start) }
            let screen = lines(&table, 80, 12)
            let header = try #require(screen[1].firstRange(of: "IF"))
            let column = DisplayWidth.of(screen[1][..<header.lowerBound])
            for line in screen[2..<10] {
                let place = try #require(line.firstRange(of: "eth0"), "\(line)")
                #expect(DisplayWidth.of(line[..<place.lowerBound]) == column, "\(line)")
                #expect(DisplayWidth.of(line) < 80 && line.needsTerminalEscaping == line.contains("\\u{"), "\(line)")
                #expect(isUTF8 || line.utf8.allSatisfy { $0 < 0x80 }, "\(line)")
                #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
            }
            for columns in 1...40 { for rows in 1...8 { _ = lines(&table, columns, rows) } }
            _ = table.key(.enter)
            for columns in 1...40 { for rows in 1...8 { _ = lines(&table, columns, rows) } }
        }
    }

    @Test("those gone are bounded, and the oldest give way")
    func bounded() throws {
        var table = table()
        for number in 0..<3000 {
            let service = try service("n\(number)")
            table.found(service, now: start)
            table.lost(service, now: start)
            // Comes and goes all the time.
            table.found(try self.service("flapping"), now: start)
            table.lost(try self.service("flapping"), now: start)
        }
        #expect(table.list.goneCount == LiveList.maximumGone && table.list.shownCount == LiveList.maximumGone)
        #expect(table.list.count == 0)
        table.passed(now: start + .seconds(30))
        #expect(table.list.goneCount == 0 && table.list.shownCount == 0)
    }
}
#endif

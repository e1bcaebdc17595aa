import DiscoveryDaemon
import DiscoverySystem
import Testing

/// Log lines as written.
@Suite struct DaemonLogTests {
    private let lines = Locked<[String]>([])

    private func log(isJournal: Bool, least: DaemonLog.Level = .info) -> DaemonLog {
        DaemonLog(isJournal: isJournal) { [lines] bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        } least: {
            least
        }
    }

    @Test func forThePersonAndForTheJournal() {
        log(isJournal: false).warning("it hangs")
        log(isJournal: false).notice("closed", [("pid", "7"), ("uid", "0")])
        log(isJournal: true).warning("it hangs")
        log(isJournal: true).error("it fails")
        #expect(
            lines.withLock { $0 } == [
                "discoverd: warning: it hangs\n", "discoverd: closed pid=7 uid=0\n", "<4>it hangs\n", "<3>it fails\n",
            ])
    }

    @Test func whatIsBelowTheLevelIsNotWritten() {
        for level in [DaemonLog.Level.debug, .info, .notice, .warning, .error] {
            log(isJournal: false, least: .notice).log(level, "\(level)")
        }
        #expect(lines.withLock { $0.count } == 3)
    }

    @Test("a name of the network begins no line and moves no cursor")
    func namesAreEscaped() {
        log(isJournal: true).notice("found a\n<0>b\u{1B}[2J", [("address", "c\nd")])
        let line = lines.withLock { $0.joined() }
        log(isJournal: false).warning(#"a label of "\u{1B}[31m": wrong"#)
        #expect(lines.withLock { $0.last } == "discoverd: warning: a label of \"\\u{1B}[31m\": wrong\n")
        #expect(line.hasPrefix("<5>found a") && line.dropLast().allSatisfy { !$0.isNewline && $0 != "\u{1B}" })
    }
}

/// Counters as Prometheus reads them.
@Suite struct MetricsRegistryTests {
    @Test func seriesAreCountedAndBounded() {
        let metrics = MetricsRegistry()
        for number in 0..<2000 { metrics.count("discoverd_x_total", [("n", String(number))]) }
        metrics.count("discoverd_x_total", [("n", "7")])
        var text = PrometheusText()
        metrics.write(to: &text)
        let lines = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("discoverd_x_total{n=\"7\"} 2") && lines.contains("# TYPE discoverd_x_total counter"))
        #expect(lines.count == 1002)
    }
}

import Foundation
import Glibc
import Testing

/// Prometheus itself, as packaged by Debian.
@Suite("Prometheus", .labSlot)
struct PrometheusTests {
    private static let programs = "\(Lab.package).build-tests/prometheus/usr/bin"

    @Test("promtool accepts the metrics; Prometheus discovers a service by http_sd and scrapes it", .onlyInAll)
    func discovery() async throws {
        let lab = try await Lab.start(hosts: 3)
        let daemon = try await LabDaemon.start(
            on: "h1", of: lab,
            "browse: [_prometheus-http._tcp]\nlisten: 9331\nservices: [{name: w, type: _http._tcp, port: 80}]\n")
        let pages = daemon.directory + "/pages"
        try FileManager.default.createDirectory(atPath: pages, withIntermediateDirectories: true)
        try "lab_test_value 42\n".write(toFile: pages + "/metrics", atomically: true, encoding: .utf8)
        let exporter = try lab.exec(
            "h2", ["/usr/bin/python3", "-u", "-m", "http.server", "--directory", pages, "9100"])
        let published = try await lab.avahiPublish(
            "h2", "Exporter on h2", "_prometheus-http._tcp", "9100", "path=/metrics", "job=lab")
        // A service that would make Prometheus query this machine, or a cloud's metadata, is not a target.
        let evil = try await lab.inject("h3", Self.evil)
        _ = try await daemon.curl("/v1/services?type=_prometheus-http._tcp") {
            try $0.objects("services").filter { $0["state"] as? String == "resolved" }.count == 2
        }
        let groups = try await daemon.curlTCP("http://127.0.0.1:9331/v1/prometheus/sd?type=_prometheus-http._tcp")
        #expect(groups.text.contains(#""targets":["10.77.0.2:9100"]"#))
        #expect(!groups.text.contains("169.254.169.254"), "\(groups)")

        let checked = try await lab.bash(
            "h1", "set -o pipefail; curl -sS http://127.0.0.1:9331/metrics | \(Self.programs)/promtool check metrics",
            within: .seconds(30))
        #expect(checked.exit == .exited(0) && checked.output.isEmpty && checked.errors.isEmpty, "\(checked)")

        let configuration = daemon.directory + "/prometheus.yml"
        try Self.configuration.write(toFile: configuration, atomically: true, encoding: .utf8)
        let valid = try await lab.toEnd(
            "h1", ["\(Self.programs)/promtool", "check", "config", configuration], within: .seconds(30))
        #expect(valid.exit == .exited(0), "\(valid)")
        let prometheus = try lab.exec(
            "h1",
            [
                "\(Self.programs)/prometheus", "--config.file=\(configuration)",
                "--storage.tsdb.path=\(daemon.directory)/tsdb", "--web.listen-address=127.0.0.1:9090",
            ])
        try await prometheus.line(.stderr, within: .seconds(60), "ready") {
            $0.contains("ready to receive web requests")
        }
        for (query, value) in [
            (#"lab_test_value{job="lab",instance="Exporter on h2",host="h2.local"}"#, "42"),
            (#"discoverd_services{type="_prometheus-http._tcp"}"#, "2"),
            (#"discoverd_registrations{state="established"}"#, "1"), (#"up{job="discoverd"}"#, "1"),
        ] {
            try await Self.result(of: query, is: value, daemon)
        }
        for one in [exporter, published, evil, prometheus] { one.signal(SIGTERM) }
        try await daemon.stop()
        try await lab.stop()
    }

    /// Queries Prometheus until the result has this value.
    private static func result(of query: String, is value: String, _ daemon: LabDaemon) async throws {
        var last = ""
        // It scrapes once a second.
        try await eventually(within: .seconds(60), every: .milliseconds(200), "\(query) is \(value): \(last)") {
            let answer = try await daemon.curlTCP(
                "http://127.0.0.1:9090/api/v1/query", "-G", "--data-urlencode", "query=\(query)")
            let data = try answer.json()["data"] as? [String: Any]
            let results = data?["result"] as? [[String: Any]] ?? []
            last = answer.text
            return (results.first?["value"] as? [Any])?.last as? String == value ? value : nil
        }
    }

    private static let evil = """
        {"services": [{"instance": "evil", "type": "_prometheus-http._tcp", "host": "evil", "port": 80,
                       "addresses": ["169.254.169.254"]}]}
        """

    /// As in README.md, with shorter times.
    private static let configuration = """
        global: {scrape_interval: 1s, scrape_timeout: 1s}
        scrape_configs:
          - job_name: discoverd
            static_configs: [{targets: ["127.0.0.1:9331"]}]
          - job_name: mdns
            http_sd_configs:
              - url: http://127.0.0.1:9331/v1/prometheus/sd?type=_prometheus-http._tcp
                refresh_interval: 1s
            relabel_configs:
              - {source_labels: [__meta_dnssd_name], target_label: instance}
              - {source_labels: [__meta_dnssd_host], target_label: host}
              - {source_labels: [__meta_dnssd_txt_job], regex: (.+), target_label: job}
              - {source_labels: [__meta_dnssd_txt_path], regex: (.+), target_label: __metrics_path__}

        """
}

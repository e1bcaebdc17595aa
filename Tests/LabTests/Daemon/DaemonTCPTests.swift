import Glibc
import Testing

/// The read-only TCP listener, which a web page or another machine could reach.
@Suite("The daemon over TCP", .labSlot)
struct DaemonTCPTests {
    @Test("GET is answered on loopback; foreign hosts, other origins, and whatever changes anything are refused")
    func readOnly() async throws {
        let lab = try await Lab.start()
        let configuration = """
            browse: [_witap._tcp]
            listen: {address: "127.0.0.1:9331", hosts: [monitor.example.org]}
            services:
              - {name: kept, port: 80, type: _witap._tcp}

            """
        let daemon = try await LabDaemon.start(on: "h1", of: lab, configuration)
        let base = "http://127.0.0.1:9331"
        let registration = try await daemon.curl("/v1/registrations") {
            try $0.objects("registrations").first?["state"] as? String == "established"
        }
        let id = try #require(try registration.objects("registrations").first?["id"] as? String)
        for target in ["/v1/services?type=_witap._tcp", "/v1/status", "/metrics", "/healthz", "/v1/registrations"] {
            #expect(try await daemon.curlTCP(base + target).status == 200, "\(target)")
        }
        #expect(try await daemon.curlTCP("http://localhost:9331/v1/ping").status == 200)
        #expect(try await daemon.curlTCP(base + "/v1/status", "-I").status == 200)
        #expect(try await daemon.curlTCP(base + "/v1/ping", "-H", "Host: monitor.example.org:9331").status == 200)
        #expect(try await daemon.curlTCP(base + "/v1/ping", "-H", "Origin: \(base)").status == 200)
        for header in [
            "Host: evil.example", "Host: localhost.evil.example", "Host: 127.0.0.1.evil.example:9331",
            "Host: x@127.0.0.1",
            "Host:", "Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: same-site",
        ] {
            let answer = try await daemon.curlTCP(base + "/v1/services", "-H", header)
            #expect(answer.status == 403 || answer.status == 400, "\(header): \(answer)")
            #expect(!answer.text.contains("kept"))
        }
        let body = #"{"name":"evil","port":7}"#
        for (method, target) in [
            ("POST", "/v1/registrations"), ("POST", "/v1/registrations?attached=1"), ("POST", "/v1/reload"),
            ("DELETE", "/v1/registrations/\(id)"), ("PUT", "/v1/status"), ("OPTIONS", "/v1/registrations"),
            ("PATCH", "/v1/registrations/\(id)"), ("HEAD", "/v1/reload"),
        ] {
            let options = method == "HEAD" ? ["-I"] : ["-X", method, "-d", body]
            let answer = try await daemon.curlTCP(base + target, options: options)
            #expect(answer.status == 405, "\(method) \(target): \(answer)")
        }
        #expect(try await daemon.curl("/v1/registrations").objects("registrations").count == 1)
        let outside = try await lab.toEnd(
            "h2", ["/usr/bin/curl", "-sS", "--max-time", "5", "http://10.77.0.1:9331/v1/ping"], within: .seconds(20))
        #expect(outside.exit == .exited(7), "only loopback listens: \(outside)")
        try await daemon.stop()
        try await lab.stop()
    }
}

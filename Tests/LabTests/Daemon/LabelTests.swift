import Foundation
import Testing

/// What containers say of themselves, as programs that others wrote see it on another host.
@Suite("labels of containers", .labSlot)
struct LabelTests {
    private static let configuration = """
        labels: [podman, docker, traefik]
        access:
          attached: anyone
          labels: {types: [_http._tcp], aliases: [wiki, shop.local], number: 300}

        """

    private static let hasPodman =
        geteuid() == 0
        && ["/usr/bin/podman", "/usr/bin/crun", "/bin/busybox"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: $0)
        }

    /// Runs a command of podman, which must succeed.
    private static func podman(_ podman: LabProcess, _ line: String, expects status: String = "0") async throws {
        podman.write(line + "\n")
        let done = try await podman.line(within: .seconds(60), "the end of \(line)") { $0.hasPrefix("done ") }
        try #require(done == "done \(status)", "\(line): \(podman.lines())")
    }

    private static func say(_ docker: LabProcess, _ line: String, within limit: Duration = .seconds(30)) async throws {
        docker.write(line + "\n")
        try await docker.line(within: limit, "the end of \(line)") { $0 == "done" }
    }

    private static func docker(_ lab: Lab) async throws -> LabProcess {
        let docker = try lab.python("h1", "runtime.py", "/run/docker.sock")
        try await docker.line { $0 == "ready" }
        return docker
    }

    private static func status(_ lab: Lab, _ daemon: LabDaemon) async throws -> [String] {
        try await lab.toEnd(
            "h1", [Built.discoverd, "status", "-v", "--socket", daemon.socket], within: .seconds(30)
        ).output
    }

    @Test(
        "Podman: a container with its published port, its alias, its health check, its end; podman's restart is not seen",
        .enabled(if: hasPodman, "podman, crun and busybox-static, and root"))
    func podman() async throws {
        let lab = try await Lab.start()
        let folder = try TestFolder()
        let podman = try LabProcess(["/bin/bash", "\(Lab.scripts)/podman.sh", lab.directory, "h1", folder.path])
        try await podman.line(within: .seconds(60)) { $0 == "READY" }
        try await lab.run("h1", "mkdir", "/run/podman")
        try await lab.run("h1", "ln", "-s", "\(folder.path)/podman.sock", "/run/podman/podman.sock")
        try await lab.run("h1", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        let daemon = try await LabDaemon.start(on: "h1", of: lab, Self.configuration)
        try await daemon.process.line(.stderr, "podman is followed") { $0.contains("labels of podman are followed") }
        let seen = try lab.exec("h2", ["avahi-browse", "-rpk", "_http._tcp"])
        try await Self.podman(
            podman,
            "run -d --name web -p 8081:80 --label io.discoverd.publish=_http._tcp --label io.discoverd.txt.path=/x "
                + "--label io.discoverd.alias=wiki localhost/busybox httpd -f -p 80")
        try await seen.line(.stdout, "web") {
            $0.hasPrefix("=;eth0;IPv4;web;") && $0.hasSuffix(#";h1.local;10.77.0.1;8081;"path=/x""#)
        }
        let answer = try await lab.run("h2", "curl", "-sI", "-m", "5", "http://10.77.0.1:8081/")
        #expect(answer.first?.hasPrefix("HTTP/1.1 404") == true, "\(answer)")
        #expect(try await lab.run("h2", "avahi-resolve", "-4", "-n", "wiki.local") == ["wiki.local\t10.77.0.1"])
        // Healthy from its second check on.
        try await Self.podman(
            podman,
            "run -d --name careful --network host --label io.discoverd.publish=http --label io.discoverd.port=8082 "
                + "--health-cmd 'test -e /ok' --health-interval disable localhost/busybox sleep 1000")
        try await Self.podman(podman, "healthcheck run careful", expects: "1")
        try await Self.podman(
            podman,
            "run -d --name bad --network host --label io.discoverd.publish=_ssh._tcp --label io.discoverd.port=22 "
                + "localhost/busybox sleep 1000")
        try await daemon.process.line(.stderr, "a label that may not") {
            $0.contains("a label of \"bad\" (podman): labels may not publish _ssh._tcp")
        }
        var status = try await Self.status(lab, daemon)
        #expect(status.contains("labels\tpodman: 2 services and aliases of 2 that run; 1 refused"), "\(status)")
        #expect(status.contains { $0.contains("\"bad\": labels may not publish _ssh._tcp") }, "\(status)")
        try await Self.podman(podman, "exec careful touch /ok")
        try await Self.podman(podman, "healthcheck run careful")
        try await seen.line(.stdout, "careful, once it is healthy") {
            $0.hasPrefix("=;eth0;IPv4;careful;") && $0.hasSuffix(#";h1.local;10.77.0.1;8082;"#)
        }
        try await Self.podman(podman, "stop-service")
        try await daemon.process.line(.stderr, "podman is away") { $0.contains("labels of podman are not followed") }
        try await Self.podman(podman, "start-service")
        try await daemon.process.line(.stderr, "podman is back") { $0.contains("labels of podman are followed") }
        #expect(!seen.lines().contains { $0.hasPrefix("-;") }, "\(seen.lines())")
        try await Self.podman(podman, "stop -t 0 web")
        try await seen.line(.stdout, "the end of web") { $0.hasPrefix("-;eth0;IPv4;web;") }
        status = try await Self.status(lab, daemon)
        #expect(
            status.contains { $0.hasPrefix("labels\tpodman: 1 service or alias of 2 that run; 1 refused") }, "\(status)"
        )
        podman.closeInput()
        try await podman.exit()
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("Docker: with Traefik's rule; what hangs, goes on for ever or breaks off is given up, and asked again")
    func docker() async throws {
        let lab = try await Lab.start()
        let docker = try await Self.docker(lab)
        try await Self.say(
            docker,
            #"run shop {"labels":{"io.discoverd.publish":"_http._tcp","io.discoverd.name":"Shop"},"port":8081}"#)
        try await Self.say(
            docker,
            #"run router {"labels":{"traefik.http.routers.s.rule":"Host(`shop.local`)||Host(`bank.local`)"},"port":80}"#
        )
        try await Self.say(docker, #"run wrong {"labels":{"io.discoverd.pubish":"_http._tcp"},"port":80}"#)
        let daemon = try await LabDaemon.start(on: "h1", of: lab, Self.configuration)
        try await daemon.process.line(.stderr, "a name of its own choice") { $0.contains("the name \"Shop\"") }
        try await Self.say(
            docker, #"run slow {"labels":{"io.discoverd.publish":"_http._tcp"},"port":8082,"hang":true}"#)
        try await daemon.process.line(.stderr, "one that hangs") { $0.contains("no answer in 2 s") }
        let first = try daemon.process.lines(.stderr)
        #expect(first.contains { $0.contains("\"io.discoverd.pubish\" is no label") }, "\(first)")
        let seen = try lab.exec("h2", ["avahi-browse", "-rpk", "_http._tcp"])
        try await Self.say(docker, #"run web {"labels":{"io.discoverd.publish":"_http._tcp"},"port":8081}"#)
        try await seen.line(.stdout, "web") { $0.hasPrefix("=;eth0;IPv4;web;") && $0.contains(";10.77.0.1;8081;") }
        #expect(try await lab.run("h2", "avahi-resolve", "-4", "-n", "shop.local") == ["shop.local\t10.77.0.1"])
        let huge = String(repeating: "x", count: 1_100_000)
        try await Self.say(docker, #"run huge {"labels":{"io.discoverd.publish":"\#(huge)"},"port":81}"#)
        try await daemon.process.line(.stderr, "a label of 1 MiB") { $0.contains("the answer is longer than 1 MiB") }
        let hangs = try daemon.process.lines(.stderr).filter { $0.contains("no answer in 2 s") }
        #expect(hangs.count == 1, "\(hangs)")
        for mode in ["cut", "endless", "hang"] {
            try await Self.say(docker, "mode \(mode)")
            try await daemon.process.line(.stderr, within: .seconds(40), mode) {
                $0.contains("labels of docker are not followed")
            }
            try await Self.say(docker, "mode answer")
            try await daemon.process.line(.stderr, within: .seconds(70), "after \(mode)") {
                $0.contains("labels of docker are followed")
            }
        }
        try await Self.say(docker, "rm web")
        try await seen.line(.stdout, "the end of web") { $0.hasPrefix("-;eth0;IPv4;web;") }
        docker.write("requests\n")
        let requests = try await docker.line { $0.hasPrefix("{") }
        #expect(!requests.contains("POST") && !requests.contains("DELETE"), "\(requests)")
        docker.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("200 that flap: few packets, bounded memory, and in the end each of them is there", .labLong)
    func flap() async throws {
        let lab = try await Lab.start()
        let docker = try await Self.docker(lab)
        let daemon = try await LabDaemon.start(on: "h1", of: lab, Self.configuration)
        try await daemon.process.line(.stderr, "docker is followed") { $0.contains("labels of docker are followed") }
        let before = try daemon.memory()
        let capture = try lab.python("h2", "capture.py", "eth0", "/dev/null")
        try await capture.line { $0 == "ready" }
        try await Self.say(docker, "flap 200 20", within: .seconds(60))
        capture.closeInput()
        let packets = try await capture.line { $0.hasPrefix("{") }
        let most = try daemon.memory()
        _ = try await daemon.curl("/v1/registrations", within: .seconds(120)) {
            try $0.objects("registrations").count { $0["state"] as? String == "established" } == 200
        }
        let list = try await lab.run("h2", "avahi-browse", "-tpk", "_http._tcp")
        #expect(Set(list.filter { $0.hasPrefix("+;eth0;IPv4;") }).count == 200, "\(list.count)")
        docker.write("requests\n")
        let requests = try await docker.line { $0.hasPrefix("{") }
        print("200 that flap for 20 s: packets \(packets), requests \(requests), memory \(before) to \(most) KiB")
        #expect(most - before < 64 * 1024)
        docker.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }
}

extension LabDaemon {
    /// Resident memory in KiB.
    fileprivate func memory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(try process.pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }
}

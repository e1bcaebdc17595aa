import Foundation
import Testing

/// `ls` beside files of /etc/avahi/services.
@Suite("avahi-daemon's own services", .labSlot)
struct AvahiFilesTests {
    @Test("ls lists them as avahi-daemon's; what is wrong, too large or elsewhere is told and left out")
    func listed() async throws {
        let lab = try await Lab.start()
        let prepare = """
            mkdir -p /run/services /run/elsewhere
            mount --bind /run/services /etc/avahi/services
            cd /etc/avahi/services
            printf '%s' "$1" >web.service; printf '%s' "$1" >/run/elsewhere/x.service; printf '%s' "$1" >no-service; printf '%s' "$1" >.hidden.service
            ln -s /run/elsewhere/x.service link.service
            printf '<service-group>\n<name>&x;</name></service-group>' >wrong.service
            head -c 70000 /dev/zero >large.service; mkfifo pipe.service; mkdir directory.service
            """
        let file = """
            <service-group><name replace-wildcards="yes">Web on %h</name>
            <service><type>_http._tcp</type><port>8080</port></service>
            <service><type>_ssh._tcp</type><host-name>other.local</host-name><port>22</port></service></service-group>
            """
        let made = try await lab.toEnd("h1", ["bash", "-ec", prepare, "-", file], within: .seconds(10))
        #expect(made.exit == .exited(0), "\(made)")
        let alone = try await lab.ask("h1", "ls")
        #expect(alone.exit == .exited(69) && alone.output.count == 2, "\(alone)")
        #expect(alone.output.first?.hasPrefix("file\tWeb on h1\t_http._tcp\t8080\t") == true, "\(alone)")
        #expect(alone.failure?.contains("daemon") == true, "\(alone)")
        let daemon = try await LabDaemon.start(
            on: "h1", of: lab, "services: [{name: own, type: _http._tcp, port: 80}]\n")
        _ = try await daemon.curl("/v1/registrations") {
            try $0.objects("registrations").first?["state"] as? String == "established"
        }
        let list = try await lab.ask("h1", "ls")
        #expect(list.exit == .exited(0) && list.output.count == 3, "\(list)")
        #expect(list.output.first?.hasPrefix("established\town\t_http._tcp\t80\tconfiguration\t") == true, "\(list)")
        #expect(
            list.output.dropFirst() == [
                "file\tWeb on h1\t_http._tcp\t8080\tavahi-daemon\t\t/etc/avahi/services/web.service",
                "file\tWeb on h1\t_ssh._tcp\t22\tavahi-daemon\t\t/etc/avahi/services/web.service",
            ], "\(list)")
        for (name, reason) in [
            ("link", ": a link, which is not followed"), ("wrong", ":2: the entity"), ("large", ": File too large"),
            ("pipe", ": not a regular file"), ("directory", ": not a regular file"),
        ] {
            #expect(
                list.errors.contains { $0.contains("left out: /etc/avahi/services/\(name).service\(reason)") },
                "\(list)")
        }
        let json = try await lab.ask("h1", "ls", "--json")
        #expect(json.output.count == 3, "\(json)")
        #expect(
            json.output.last
                == #"{"name":"Web on h1","type":"_ssh._tcp","domain":"local","port":22,"host":"other.local","state":"file","#
                + #""origin":"avahi-daemon","path":"/etc/avahi/services/web.service"}"#, "\(json)")
        let watch = try lab.discoverd("h1", "ls", "--watch")
        try await watch.line(.stdout, "a file") { $0.hasPrefix("+\tfile\tWeb on h1\t_ssh._tcp\t") }
        watch.signal(SIGINT)
        #expect(try await watch.exit() == .exited(0))
        try await daemon.stop()
        try await lab.stop()
    }
}

import DiscoveryDaemonClient
import NetworkServices

@main
struct HelloDaemon {
    static func main() async throws {
        guard let daemon = await DaemonClient.find() else { return print("no daemon answers") }
        let status = try await daemon.status()
        print("discoverd", status.version, "publishes by", status.publisher.kind)

        // It stays published when this program ends, until someone withdraws it.
        let hello = try OfferedService(name: "hello", type: "_witap._tcp", port: 9000, txt: ["state": "new"])
        let registration = try await daemon.register(hello)
        print(registration)

        // Others see a change, and no end.
        try await daemon.update(registration.id, txt: ["state": "seen"])
        for try await services in daemon.watch(hello.type).lists {
            guard let own = services.first(where: { $0.id == registration.instance }) else { continue }
            print(own.instance.name, own.txt)
            if own.txt["state"] == "seen" { break }
        }
        try await daemon.withdraw(registration.id)
        print("left:", try await daemon.registrations().count)
    }
}

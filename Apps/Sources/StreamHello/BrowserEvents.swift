import AppSupport
import DNSSD
import DiscoveryJSON
import Synchronization

/// Prints the events of a browser, and the resulting list.
final class BrowserEvents: Sendable {
    let app: App
    private let names = Mutex<Set<ServiceName>>([])

    init(app: App) { self.app = app }

    func willSearch(_ type: ServiceType) {
        tell("will-search", "will search for \(type)") { $0.member("type", "\(type)") }
    }

    func didStop() { tell("did-stop", "did stop") { _ in } }

    func didNotSearch(_ error: any Error) {
        tell("did-not-search", "did not search: \(error)") { $0.member("reason", "\(error)") }
    }

    func domain(_ what: String, _ domain: Domain, _ isMoreComing: Bool) {
        tell("domain-\(what)", "\(what) domain \(domain)\(Self.more(isMoreComing))") {
            $0.member("domain", domain.text)
            $0.key("moreComing")
            $0.bool(isMoreComing)
        }
    }

    func service(_ what: String, _ service: DiscoveredService, _ isMoreComing: Bool) {
        let name = service.instance.name
        let list = names.withLock { names in
            if what == "found" { names.insert(name) } else { names.remove(name) }
            return names.sorted()
        }
        let text = list.map(\.description).joined(separator: ", ")
        tell("service-\(what)", "\(what) service \(name)\(Self.more(isMoreComing)); now: \(text)") {
            $0.member("name", name.text)
            $0.key("moreComing")
            $0.bool(isMoreComing)
            $0.member("now", list.map(\.text))
        }
    }

    private static func more(_ isMoreComing: Bool) -> String { isMoreComing ? " (more coming)" : "" }

    private func tell(_ event: String, _ text: String, _ members: (inout JSONWriter) -> Void) {
        if app.json { app.output.json(event, members) } else { app.output.line(text) }
    }
}

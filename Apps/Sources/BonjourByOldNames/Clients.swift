import DNSSD
import DiscoveryNetService
import Foundation

/// Knows the name: resolves it within a second, greets, and ends with the answer, which may come first.
@MainActor final class ResolvingClient: NSObject, Program, @MainActor NetServiceDelegate {
    private let service: NetService
    private var greeting: Greeting?

    init(_ name: String) {
        service = NetService(domain: BonjourByOldNames.domain, type: BonjourByOldNames.type, name: name)
        super.init()
        service.delegate = self
    }

    func start() { service.resolve(withTimeout: 1.0) }

    func stop() { exit(0) }

    func netServiceWillResolve(_ sender: NetService) { say("will resolve \(sender)") }

    func netServiceDidResolveAddress(_ sender: NetService) {
        guard greeting == nil else { return }
        say("did resolve \(sender): \((sender.hostName ?? "").escapedForTerminal) port \(sender.port)")
        for endpoint in sender.resolved?.endpoints ?? [] { say("address \(endpoint)") }
        sender.stop()
        var input: InputStream?
        var output: OutputStream?
        guard sender.getInputStream(&input, outputStream: &output), let input, let output else { exit(1) }
        greeting = Greeting(input, output, sending: "Hello Server!") { greeting in
            greeting.whenSent {
                greeting.close()
                exit(0)
            }
        } onEnd: { _ in
            exit(76)
        }
    }

    func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber]) {
        say("did not resolve \(sender): \(sentence(errorDict, sender.failure))")
        exit(1)
    }

    func netServiceDidStop(_ sender: NetService) { say("did stop \(sender)") }
}

/// Keeps a list of all that have the type.
@MainActor final class BrowsingClient: NSObject, Program, @MainActor NetServiceBrowserDelegate {
    private let browser = NetServiceBrowser()
    private var services: [NetService] = []

    override init() {
        super.init()
        browser.delegate = self
    }

    func start() { browser.searchForServices(ofType: BonjourByOldNames.type, inDomain: BonjourByOldNames.domain) }

    func stop() { browser.stop() }

    func netServiceBrowserWillSearch(_ browser: NetServiceBrowser) { say("will search") }

    func netServiceBrowser(_ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber]) {
        say("did not search: \(sentence(errorDict, browser.failure))")
        exit(1)
    }

    func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser) {
        say("did stop search")
        exit(0)
    }

    func netServiceBrowser(_ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool) {
        say("found \(service), more coming: \(moreComing)")
        services.append(service)
        if !moreComing { show() }
    }

    func netServiceBrowser(_ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool) {
        say("removed \(service), more coming: \(moreComing)")
        services.removeAll { $0 == service }
        if !moreComing { show() }
    }

    func netServiceBrowser(_ browser: NetServiceBrowser, didFindDomain domain: String, moreComing: Bool) {
        say("found domain \(domain.escapedForTerminal), more coming: \(moreComing)")
    }

    func netServiceBrowser(_ browser: NetServiceBrowser, didRemoveDomain domain: String, moreComing: Bool) {
        say("removed domain \(domain.escapedForTerminal), more coming: \(moreComing)")
    }

    private func show() {
        let names = services.map(\.name.escapedForTerminal).sorted()
        say("list: \(names.isEmpty ? "nobody" : names.joined(separator: ", "))")
    }
}

/// Follows the TXT record of a name.
@MainActor final class Monitor: NSObject, Program, @MainActor NetServiceDelegate {
    private let service: NetService

    init(_ name: String) {
        service = NetService(domain: BonjourByOldNames.domain, type: BonjourByOldNames.type, name: name)
        super.init()
        service.delegate = self
    }

    func start() { service.startMonitoring() }

    func stop() {
        service.stopMonitoring()
        exit(0)
    }

    func netService(_ sender: NetService, didUpdateTXTRecord data: Data) {
        let pairs = NetService.dictionary(fromTXTRecord: data).sorted { $0.key < $1.key }.map { key, value in
            "\(key)=\(String(decoding: value, as: UTF8.self))".escapedForTerminal
        }
        say("did update TXT record of \(sender): \(pairs.joined(separator: " "))")
    }
}

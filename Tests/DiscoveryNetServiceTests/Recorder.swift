import DNSSD
import Discovery
import DiscoveryNetService
import Foundation
import Testing

/// A delegate for everything that records its calls in order, as words.
@MainActor final class Recorder: NSObject, @MainActor NetServiceDelegate, @MainActor NetServiceBrowserDelegate {
    private(set) var words: [String] = []
    private(set) var services: [NetService] = []
    private(set) var removed: [NetService] = []
    private(set) var records: [Data] = []
    private(set) var connections: [(InputStream, OutputStream)] = []
    /// Called after each recorded word.
    var told: ((String) -> Void)?
    private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    private func tell(_ word: String) {
        words.append(word)
        let reached = waiters.filter { $0.count <= words.count }
        waiters.removeAll { $0.count <= words.count }
        told?(word)
        for waiter in reached { waiter.continuation.resume() }
    }

    /// Waits for `count` calls and returns them, even if more have come. The suite's time limit ends a futile wait.
    func words(_ count: Int) async -> [String] {
        if words.count < count {
            await withCheckedContinuation { waiters.append((count, $0)) }
        }
        return Array(words.prefix(count))
    }

    private func code(_ dictionary: [String: NSNumber]) -> String {
        "\(dictionary[NetService.errorDomain] ?? 0) \(dictionary[NetService.errorCode] ?? 0)"
    }

    func netServiceWillPublish(_ sender: NetService) { tell("will publish") }
    func netServiceDidPublish(_ sender: NetService) { tell("did publish \(sender.name)") }
    func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {
        tell("did not publish \(code(errorDict))")
    }
    func netServiceWillResolve(_ sender: NetService) { tell("will resolve") }
    func netServiceDidResolveAddress(_ sender: NetService) { tell("did resolve \(sender.port)") }
    func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber]) {
        tell("did not resolve \(code(errorDict))")
    }
    func netServiceDidStop(_ sender: NetService) { tell("did stop") }
    func netService(_ sender: NetService, didUpdateTXTRecord data: Data) {
        records.append(data)
        tell("did update TXT")
    }
    func netService(
        _ sender: NetService, didAcceptConnectionWith inputStream: InputStream, outputStream: OutputStream
    ) {
        connections.append((inputStream, outputStream))
        tell("did accept")
    }

    func netServiceBrowserWillSearch(_ browser: NetServiceBrowser) { tell("will search") }
    func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser) { tell("did stop search") }
    func netServiceBrowser(_ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber]) {
        tell("did not search \(code(errorDict))")
    }
    func netServiceBrowser(_ browser: NetServiceBrowser, didFindDomain domain: String, moreComing: Bool) {
        tell("found domain \(domain)\(moreComing ? " …" : "")")
    }
    func netServiceBrowser(_ browser: NetServiceBrowser, didRemoveDomain domain: String, moreComing: Bool) {
        tell("removed domain \(domain)\(moreComing ? " …" : "")")
    }
    func netServiceBrowser(_ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool) {
        services.append(service)
        tell("found \(service.name)\(moreComing ? " …" : "")")
    }
    func netServiceBrowser(_ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool) {
        removed.append(service)
        tell("removed \(service.name)\(moreComing ? " …" : "")")
    }
}

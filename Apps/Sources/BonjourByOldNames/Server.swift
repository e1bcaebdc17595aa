import DNSSD
import DiscoveryNetService
import Foundation

/// Publishes `tony._tonyipp._tcp`, answers each greeting, and counts them in the TXT record.
@MainActor final class Server: NSObject, Program, @MainActor NetServiceDelegate {
    private let service: NetService
    private let options: NetService.Options
    private var greetings: Set<Greeting> = []
    private var count = 0
    private static let maximumGreetings = 100

    init(_ name: String, _ port: Int32, _ options: NetService.Options) {
        service = NetService(
            domain: BonjourByOldNames.domain, type: BonjourByOldNames.type, name: name, port: port)
        self.options = options
        super.init()
        service.delegate = self
    }

    func start() {
        greeted(0)
        service.publish(options: options)
    }

    func stop() { service.stop() }

    func netServiceWillPublish(_ sender: NetService) { say("will publish \(sender)") }

    func netServiceDidPublish(_ sender: NetService) { say("did publish \(sender) port \(sender.port)") }

    func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {
        say("did not publish \(sender): \(sentence(errorDict, sender.failure))")
        exit(errorDict[NetService.errorCode] == -72001 ? 73 : 1)
    }

    func netServiceDidStop(_ sender: NetService) {
        say("did stop \(sender)")
        exit(0)
    }

    func netService(
        _ sender: NetService, didAcceptConnectionWith inputStream: InputStream, outputStream: OutputStream
    ) {
        // Whoever is too many is not answered: the streams that nobody keeps close.
        guard greetings.count < Self.maximumGreetings else { return }
        say("did accept a connection")
        let greeting = Greeting(inputStream, outputStream, sending: nil) { [weak self] greeting in
            greeting.send("Hello Client!")
            self?.greeted(1)
        } onEnd: { [weak self] in
            self?.greetings.remove($0)
        }
        greetings.insert(greeting)
    }

    private func greeted(_ more: Int) {
        count += more
        service.setTXTRecord(NetService.data(fromTXTRecord: ["greeted": Data(String(count).utf8)]))
    }
}

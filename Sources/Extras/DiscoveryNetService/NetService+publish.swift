import DNSSD
import Discovery
import Foundation

extension NetService {
    /// Publishes, under another name if this one is taken.
    public func publish() { publish(options: []) }

    /// Publishes until `stop()`; the service survives restarts of avahi-daemon.
    ///
    /// `netServiceWillPublish` follows, then `netServiceDidPublish` or `didNotPublish`: `badArgumentError` for an invalid type, name or
    /// port, `collisionError` for a taken name with `.noAutoRename`, `activityInProgress`.
    public func publish(options: Options) {
        guard case .none = activity else {
            return refuse(.activityInProgress) { $0.netService($1, didNotPublish: $2) }
        }
        let publisher: Publisher
        do throws(DiscoveryError) {
            let policy: ConflictPolicy = options.contains(.noAutoRename) ? .fail : .rename
            let isListening = options.contains(.listenForConnections)
            let service = try service(isListening: isListening)
            let wanted = port == 0 ? nil : service.port
            publisher = Publisher(service, policy, listensOn: isListening ? .some(wanted) : nil, network)
        } catch {
            failure = error
            return refuse(NetService.ErrorCode(error)) { $0.netService($1, didNotPublish: $2) }
        }
        lastActivity += 1
        let id = lastActivity
        activity = .publishing(id, publisher)
        let (delivery, this, before) = (delivery, RunLoopBound(self), task)
        task = Task {
            await before?.value
            await delivery.deliver { this.object.map { $0.delegate?.netServiceWillPublish($0) } }
            await publisher.run { event in
                await delivery.deliver { this.object?.publisher(id, tells: event) }
                // No one took it: the owner is gone, or has stopped.
                if case .accepted(let connection) = event { connection.closeUnlessTaken() }
            }
        }
    }

    private func service(isListening: Bool) throws(DiscoveryError) -> OfferedService {
        let (type, subtypes) = try ServiceType.withSubtypes(type)
        let instance = try instance()
        // Port 0 becomes known once it is bound; until then any number will do.
        let port = try Port(isListening && port == 0 ? 1 : port)
        return OfferedService(
            name: instance.name, type: type, domain: instance.domain, port: port, txt: txt ?? TXTRecord(),
            subtypes: subtypes)
    }

    private func publisher(_ id: UInt64, tells event: Publisher.Event) {
        guard case .publishing(id, _) = activity else { return }
        switch event {
        case .listening(let port): self.port = Int(port.rawValue)
        case .status(let status): published(status)
        case .failed(let error): publishingFailed(error)
        case .accepted(let connection):
            guard let (input, output) = connection.take() else { return }
            delegate?.netService(self, didAcceptConnectionWith: input, outputStream: output)
        }
    }

    private func published(_ status: PublicationStatus) {
        switch status.state {
        case .waiting, .registering, .refused: break
        case .established:
            name = status.name.text
            delegate?.netServiceDidPublish(self)
        case .conflicted(let error), .failed(let error): publishingFailed(error)
        case .withdrawn: publishingFailed(DiscoveryError(.closed, "\(status.name) was withdrawn"))
        }
    }

    private func publishingFailed(_ error: DiscoveryError) {
        failure = error
        activity = .none
        task?.cancel()
        delegate?.netService(self, didNotPublish: Self.dictionary(ErrorCode(error)))
    }

    /// Reports to the delegate, later, that something was not started.
    func refuse(
        _ code: ErrorCode,
        _ tell: @escaping @Sendable (any NetServiceDelegate, NetService, [String: NSNumber]) -> Void
    ) {
        delivery.post { [this = RunLoopBound(self)] in
            guard let service = this.object, let delegate = service.delegate else { return }
            tell(delegate, service, Self.dictionary(code))
        }
    }

    /// Stores the TXT record, and announces it if the service is published.
    func setTXT(_ record: TXTRecord?) {
        txt = record
        if case .publishing(_, let publisher) = activity { publisher.update(txt: record ?? TXTRecord()) }
    }
}

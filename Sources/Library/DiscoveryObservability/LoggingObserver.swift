#if Observability
internal import DNSSD
public import Discovery
public import Logging

/// Writes what a network does to a `Logger`. Every text from the network is escaped (`escapedForTerminal`).
///
/// What comes and goes is `debug`, a publication's way `info`, a new name `notice`, and what someone should look at,
/// as a refusal or a lost backend, `warning`.
public struct LoggingObserver: DiscoveryObserver {
    private let logger: Logger

    /// Logs to a logger.
    public init(_ logger: Logger) { self.logger = logger }

    /// Logs the observation.
    public func observed(_ observation: DiscoveryObservation) {
        switch observation {
        case .queryOpened(let query): logger.debug("query opened", metadata: Self.metadata(query))
        case .queryClosed(let query): logger.debug("query closed", metadata: Self.metadata(query))
        case .event(let event, let query): log(event, query)
        case .publication(let service, let status): log(service, status)
        case .resolved(let instance, .success(let service), let took):
            logger.debug(
                "resolved", metadata: Self.metadata(instance, ["endpoints": "\(service.endpoints)", "took": "\(took)"]))
        case .resolved(let instance, .failure(let error), let took):
            logger.info(
                "not resolved", metadata: Self.metadata(instance, ["error": "\(error)", "took": "\(took)"]))
        case .connected(let target, let report, let error): log(target, report, error)
        }
    }

    private func log(_ event: ServiceEvent, _ query: ServiceQuery) {
        switch event {
        case .found(let service):
            logger.debug(
                "found", metadata: Self.metadata(service.instance, ["endpoints": "\(service.endpoints)"]))
        case .changed(let service):
            logger.debug(
                "changed", metadata: Self.metadata(service.instance, ["endpoints": "\(service.endpoints)"]))
        case .lost(let service): logger.debug("lost", metadata: Self.metadata(service.instance))
        case .settled: logger.debug("settled", metadata: Self.metadata(query))
        case .backend(.available): logger.debug("backend available")
        case .backend(.recovered): logger.notice("backend recovered")
        case .backend(.lost(let reason)), .backend(.unavailable(let reason)):
            logger.warning("backend away", metadata: ["reason": "\(reason.escapedForTerminal)"])
        case .degraded(let reason):
            logger.warning("degraded", metadata: ["reason": "\(reason.escapedForTerminal)"])
        }
    }

    private func log(_ service: OfferedService, _ status: PublicationStatus) {
        let metadata = Self.metadata(
            ServiceInstance(name: status.name, type: service.type, domain: service.domain))
        switch status.state {
        case .waiting(let reason):
            logger.info("publishing waits", metadata: metadata.merging(["reason": "\(reason)"]) { $1 })
        case .registering: logger.debug("publishing", metadata: metadata)
        case .established where status.name != status.wanted:
            logger.notice("published", metadata: metadata.merging(["wanted": "\(status.wanted)"]) { $1 })
        case .established: logger.info("published", metadata: metadata)
        case .refused(let error):
            logger.warning("publishing refused", metadata: metadata.merging(["error": "\(error)"]) { $1 })
        case .conflicted(let error), .failed(let error):
            logger.warning("publishing failed", metadata: metadata.merging(["error": "\(error)"]) { $1 })
        case .withdrawn: logger.info("withdrawn", metadata: metadata)
        }
    }

    private func log(_ target: ConnectTarget, _ report: EstablishmentReport, _ error: DiscoveryError?) {
        var metadata = Self.metadata(target)
        metadata["took"] = "\(report.duration)"
        metadata["endpoint"] = report.winner.map { "\($0)" }
        metadata["error"] = error.map { "\($0)" }
        let denied = report.attempts.filter { $0.outcome == .denied }
        if !denied.isEmpty { metadata["denied"] = .array(denied.map { "\($0.endpoint)" }) }
        logger.log(
            level: error == nil ? .debug : .info, error == nil ? "connected" : "not connected", metadata: metadata)
    }

    private static func metadata(_ query: ServiceQuery) -> Logger.Metadata {
        switch query.target {
        case .type(let type, let domain): ["type": "\(type)", "domain": "\(domain)"]
        case .instance(let instance): metadata(instance)
        }
    }

    private static func metadata(_ target: ConnectTarget) -> Logger.Metadata {
        switch target {
        case .any(let type, let domain): ["type": "\(type)", "domain": "\(domain)"]
        case .instance(let instance): metadata(instance)
        case .service(let service): metadata(service.instance)
        }
    }

    private static func metadata(
        _ instance: ServiceInstance, _ more: Logger.Metadata = [:]
    ) -> Logger.Metadata {
        more.merging(["service": "\(instance)"]) { $1 }
    }
}
#endif

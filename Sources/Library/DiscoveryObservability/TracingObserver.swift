#if Observability
internal import DNSSD
public import Discovery
public import Tracing

/// Makes a span of each call that resolves or connects, with swift-distributed-tracing: a child of the caller's span,
/// made when the call has ended.
///
/// The spans are `dnssd.resolve` and `dnssd.connect`, of kind `client`, with the attributes `dnssd.instance` or
/// `dnssd.type`, `server.address` and `server.port` of the address in use, `dnssd.attempts`, and `error.type`. Texts
/// from the network are escaped.
public struct TracingObserver: DiscoveryObserver {
    private let tracer: (any Tracer)?

    /// Creates an observer.
    /// - Parameter tracer: nil for the one that the process has chosen (`InstrumentationSystem`).
    public init(_ tracer: (any Tracer)? = nil) { self.tracer = tracer }

    /// Makes a span of a call's end; other observations make none.
    public func observed(_ observation: DiscoveryObservation) {
        switch observation {
        case .resolved(let instance, let result, let took):
            var error: DiscoveryError?
            if case .failure(let reason) = result { error = reason }
            span("dnssd.resolve", took, error) { $0["dnssd.instance"] = "\(instance)" }
        case .connected(let target, let report, let error):
            span("dnssd.connect", report.duration, error) { attributes in
                switch target {
                case .instance(let instance): attributes["dnssd.instance"] = "\(instance)"
                case .service(let service): attributes["dnssd.instance"] = "\(service.instance)"
                case .any(let type, _): attributes["dnssd.type"] = "\(type)"
                }
                attributes["dnssd.attempts"] = report.attempts.count
                guard let winner = report.winner else { return }
                attributes["server.address"] = winner.addressText.escapedForTerminal
                attributes["server.port"] = Int(winner.port.rawValue)
            }
        default: break
        }
    }

    private func span(
        _ name: String, _ took: Duration, _ error: DiscoveryError?, _ fill: (inout SpanAttributes) -> Void
    ) {
        let end = DefaultTracerClock.now
        let nanoseconds = UInt64(took.wholeNanoseconds)
        let start = DefaultTracerClock.Timestamp(
            nanosecondsSinceEpoch: end.nanosecondsSinceEpoch - min(nanoseconds, end.nanosecondsSinceEpoch))
        let span = (tracer ?? InstrumentationSystem.tracer).startSpan(name, ofKind: .client, at: start)
        span.updateAttributes { attributes in
            fill(&attributes)
            if let error { attributes["error.type"] = error.code.description }
        }
        if let error {
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error, message: error.message))
        }
        span.end(at: end)
    }
}
#endif

internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

/// How `GET /v1/services` answers.
enum ListingFormat: String, Sendable {
    /// One JSON object.
    case json
    /// As `discoverd browse --json` prints it: one event a line, `settled` last if that is all.
    case lines
    /// As `discoverd browse` prints it into a pipe; anything else is in lines that begin with `#`.
    case text

    var contentType: String {
        switch self {
        case .json: "application/json"
        case .lines: "application/x-ndjson"
        case .text: "text/plain; charset=utf-8"
        }
    }
}

extension ControlResponder {
    /// Answers are kept up to this size as long as nothing changes.
    private static var keptBytes: Int { 1024 * 1024 }

    func services(_ query: QueryString) async throws(ControlError) -> ControlAnswer {
        try query.allow(QueryString.ofServices.union(["wait", "format"]))
        let request = try ServiceRequest(query)
        let (question, limit) = questionAndLimitOnce(request)
        let patience = min(try query.patience(), limit ?? .seconds(30))
        guard let format = query["format"].map({ ListingFormat(rawValue: $0) }) ?? .json else {
            throw ControlError(400, "invalid-request", "format is json, lines or text")
        }
        let answer = await warm.withFeed(question) { feed in
            await feed.settled(within: patience)
            let kind = QueryFeed.Kept.Kind(format: format.rawValue, detail: request.detail)
            if request.name == nil, let kept = feed.kept(kind) {
                return BytePieces.answer(kept, type: format.contentType)
            }
            let state = feed.snapshot
            let services = request.name == nil ? state.services : state.services.filter(request.asks)
            if let bytes = Self.pieces(services, state, request.detail, format).whole(atMost: Self.keptBytes) {
                if request.name == nil { feed.keep(bytes, kind, asOf: state.head) }
                return BytePieces.answer(bytes, type: format.contentType)
            }
            let pieces = Self.pieces(services, state, request.detail, format)
            return .pieces(status: 200, type: format.contentType, pieces)
        }
        guard let answer else { throw Self.full }
        return answer
    }

    private static func pieces(
        _ services: [DiscoveredService],
        _ state: QueryFeed.Snapshot,
        _ detail: ServiceDetail,
        _ format: ListingFormat
    ) -> ArrayPieces<DiscoveredService> {
        let isAll = state.isSettled && state.backend.reason == nil
        switch format {
        case .json:
            return ArrayPieces(services, opening: #"{"v":1,"services":["#, closing: "]}\n") { service, bytes in
                JSONWriter.append(to: &bytes) { $0.service(service, detail: detail) }
            }
        case .lines:
            var opening = JSONWriter()
            if let degraded = state.degraded { opening.degradedLine(degraded) }
            var closing = JSONWriter()
            if isAll { closing.line("settled") }
            return ArrayPieces(
                services,
                opening: String(decoding: opening.bytes, as: UTF8.self),
                separator: "",
                closing: String(decoding: closing.bytes, as: UTF8.self)
            ) { service, bytes in
                JSONWriter.append(to: &bytes) { $0.line(.found(service), detail: detail) }
            }
        case .text:
            let degraded = state.degraded.map { "# degraded\t\($0.escapedForTerminal)\n" } ?? ""
            return ArrayPieces(services, opening: degraded, separator: "", closing: isAll ? "# settled\n" : "") {
                service, bytes in
                bytes += "+\t\(service.textFields(detail).joined(separator: "\t"))\n".utf8
            }
        }
    }
}

internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

/// `/v2/…`: a request of version 2 is one of version 1, and its answer is that one's, rendered
/// (docs/decisions/0087-json-version-2.md). What version 1 answers cannot change by it.
package struct Version2Request: Sendable {
    /// What the body of an answer is.
    enum Form: Sendable {
        /// One object.
        case object(Version2.Answer)
        /// Lines, or text.
        case lines
        /// Services, of which one object is made in version 2 already.
        case services
        /// No JSON of ours.
        case asItIs
    }

    /// The same of version 1.
    package let old: ControlRequest
    private let form: Form

    /// Nil for a request of another version.
    package init?(_ request: ControlRequest) {
        guard request.path.first == "v2" else { return nil }
        // What version 2 does not have, no one has.
        let (path, form) = Self.meant(by: Array(request.path.dropFirst())) ?? (request.path, .asItIs)
        var old = request
        (old.path, old.version) = (path, .two)
        (self.old, self.form) = (old, form)
    }

    /// The answer to a request of either version by what answers version 1.
    static func answer(
        to request: ControlRequest, by respond: (ControlRequest) async -> ControlAnswer
    ) async -> ControlAnswer {
        guard let new = Version2Request(request) else { return await respond(request) }
        return new.rendered(await respond(new.old))
    }

    private static func meant(by path: [String]) -> (path: [String], form: Form)? {
        let (first, rest) = (path.first ?? "", Array(path.dropFirst()))
        switch (first, rest) {
        case ("services", []): return (["v1", "services"], .services)
        case ("services", ["watch"]), ("types", ["watch"]), ("domains", ["watch"]): return (["v1"] + path, .lines)
        case ("services", ["unreachable"]), ("ping", []): return (["v1"] + path, .object(.ping))
        case ("reload", []): return (["v1"] + path, .object(.reload))
        case ("types", []): return (["v1"] + path, .object(.types))
        case ("domains", []): return (["v1"] + path, .object(.domains))
        case ("status", []): return (["v1"] + path, .object(.status))
        case ("doctor", []): return (["v1"] + path, .object(.checks))
        case ("health", []): return (["healthz"], .object(.health))
        case ("availability", ["watch"]): return (["v1", "backend", "watch"], .lines)
        case ("prometheus", ["sd"]): return (["v1"] + path, .asItIs)
        case ("publications", []): return (["v1", "registrations"], .object(.publications))
        case ("publications", let rest) where rest.count == 1 || rest.count == 2 && rest[1] == "txt":
            return (["v1", "registrations"] + rest, .object(.publication))
        default: return nil
        }
    }

    /// The answer to it in version 2.
    package func rendered(_ answer: ControlAnswer) -> ControlAnswer {
        switch answer {
        case .whole(let status, let type, let body, let allow):
            if type == "application/x-ndjson" {
                return .whole(status: status, type: type, body: JSONVersion.two.rendered(lines: body), allow: allow)
            }
            if case .services = form, status == 200 { return answer }
            guard type == "application/json", let old = try? JSONReader.read(body), old.members != nil else {
                return answer
            }
            return .whole(status: status, type: type, body: object(old, status).bytes, allow: allow)
        case .lines(let status, let source): return .lines(status: status, RenderedLines(source))
        case .pieces(let status, "application/x-ndjson", let source):
            return .pieces(status: status, type: "application/x-ndjson", RenderedLines(source))
        case .pieces: return answer
        }
    }

    private func object(_ old: JSONValue, _ status: Int) -> JSONValue {
        var subject = Version2.Answer.ping
        if case .object(let known) = form { subject = known }
        // One that was handed over, or all.
        if subject == .publications, old["registrations"] == nil { subject = .publication }
        return Version2.answer(old, about: subject, status: status)
    }
}

/// Whole lines of a source in version 2. A piece may end within a line.
private final class RenderedLines: LineSource {
    private let source: any LineSource
    private let rest = Locked<[UInt8]>([])

    init(_ source: any LineSource) { self.source = source }

    func next() async -> [UInt8]? {
        while let piece = await source.next() {
            let lines = rest.withLock { rest -> [UInt8] in
                let bytes = rest + piece
                let end = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
                rest = Array(bytes[end...])
                return Array(bytes[..<end])
            }
            if !lines.isEmpty { return JSONVersion.two.rendered(lines: lines) }
        }
        return nil
    }

    func end() async { await source.end() }
}

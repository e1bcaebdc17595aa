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
        /// Services of lines, as one object.
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
        var (old, answer) = (request, form)
        old.path = path
        old.version = .two
        if case .services = form {
            if let lines = request.query.with("format", "lines", insteadOf: [nil, "json"]) {
                old.query = lines
            } else {
                answer = .lines
            }
        }
        (self.old, self.form) = (old, answer)
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
                guard case .services = form else {
                    return .whole(status: status, type: type, body: JSONVersion.two.rendered(lines: body), allow: allow)
                }
                var list = ServiceListOfVersion2()
                let body = list.take(body) + list.end
                return .whole(status: status, type: "application/json", body: body, allow: allow)
            }
            guard type == "application/json", let old = try? JSONReader.read(body), old.members != nil else {
                return answer
            }
            return .whole(status: status, type: type, body: object(old, status).bytes, allow: allow)
        case .lines(let status, let source):
            return .lines(status: status, RenderedLines(source) { JSONVersion.two.rendered(lines: $0) })
        case .pieces(let status, "application/x-ndjson", let source):
            guard case .services = form else {
                let lines = RenderedLines(source) { JSONVersion.two.rendered(lines: $0) }
                return .pieces(status: status, type: "application/x-ndjson", lines)
            }
            let list = Locked(ServiceListOfVersion2())
            let pieces = RenderedLines(source) { lines in
                list.withLock { $0.take(lines) }
            } end: {
                list.withLock { $0.end }
            }
            return .pieces(status: status, type: "application/json", pieces)
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

extension QueryString {
    /// The query with a parameter in the place of others of this name; nil where it has another value.
    fileprivate func with(_ name: String, _ value: String, insteadOf others: [String?]) -> QueryString? {
        guard others.contains(self[name]) else { return nil }
        var query = QueryString()
        for item in items where item.name != name { query.add(item.name, item.value) }
        query.add(name, value)
        return query
    }
}

/// Services of lines of version 1 as one object of version 2: `{"v":2,"services":[…],"complete":true}`. A value.
struct ServiceListOfVersion2 {
    private var isBegun = false
    private var count = 0
    private var isComplete = false
    private var reason: String?

    /// - Parameter lines: whole ones.
    mutating func take(_ lines: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = isBegun ? [] : Array(#"{"v":2,"services":["#.utf8)
        isBegun = true
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            guard let value = try? JSONReader.read(Array(line)) else { continue }
            switch value["event"]?.string {
            case "settled": isComplete = true
            case "degraded": reason = value["reason"]?.string
            default:
                guard let service = Version2.line(value)["service"] else { continue }
                if count > 0 { bytes.append(UInt8(ascii: ",")) }
                count += 1
                JSONWriter.append(to: &bytes) { $0.write(service) }
            }
        }
        return bytes
    }

    /// What follows the services.
    var end: [UInt8] {
        var bytes = Array((isBegun ? "" : #"{"v":2,"services":["#).utf8)
        bytes += "],\"complete\":\(isComplete && reason == nil)".utf8
        if let reason {
            bytes += #","reason":"#.utf8
            JSONWriter.append(to: &bytes) { $0.string(reason) }
        }
        return bytes + Array("}\n".utf8)
    }
}

/// Whole lines of a source as a rendering has them. A piece may end within a line.
private final class RenderedLines: LineSource {
    private struct State {
        var rest: [UInt8] = []
        var isOver = false
    }

    private let source: any LineSource
    private let render: @Sendable ([UInt8]) -> [UInt8]
    private let last: @Sendable () -> [UInt8]
    private let state = Locked(State())

    init(
        _ source: any LineSource, _ render: @escaping @Sendable ([UInt8]) -> [UInt8],
        end last: @escaping @Sendable () -> [UInt8] = { [] }
    ) {
        (self.source, self.render, self.last) = (source, render, last)
    }

    func next() async -> [UInt8]? {
        while let piece = await source.next() {
            let lines = state.withLock { state -> [UInt8] in
                let bytes = state.rest + piece
                let end = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
                state.rest = Array(bytes[end...])
                return Array(bytes[..<end])
            }
            if !lines.isEmpty { return render(lines) }
        }
        let isOver = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver
        }
        let bytes = isOver ? [] : last()
        return bytes.isEmpty ? nil : bytes
    }

    func end() async { await source.end() }
}

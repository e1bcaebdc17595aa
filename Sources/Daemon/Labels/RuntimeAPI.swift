internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

/// Podman's or Docker's API: HTTP over a Unix socket, `GET` alone. Used on one thread, which waits.
struct RuntimeAPI: Sendable {
    /// Why there is no answer; safe for a terminal.
    struct Failure: Error {
        /// What failed.
        enum Extent {
            case all
            /// What one container says is too much.
            case tooLong
            /// It was not told now, as of one that ends meanwhile.
            case notTold
        }

        let reason: String
        var extent = Extent.all
    }

    /// How long an answer may take, and one about a single container.
    private static let patience = Duration.seconds(10), inspectionPatience = Duration.seconds(2)
    /// The longest list of containers, and what one says of itself.
    private static let longestList = 4 << 20, longestInspection = 1 << 20

    let path: String

    /// Where the runtime of this user listens.
    init(_ source: String, runtimeDirectory: String?, isRoot: Bool) {
        let name = source == "docker" ? "docker.sock" : "podman/podman.sock"
        path = isRoot ? "/run/\(name)" : "\(runtimeDirectory ?? "/run")/\(name)"
    }

    /// The containers that run and have labels that matter.
    /// - Parameter label: one that they have; nil is any.
    func containers(with label: String?, readsTraefik: Bool) throws(Failure) -> [String] {
        var filter = #"{"status":["running"]"#
        if let label { filter += #","label":["\#(label)"]"# }
        guard
            let json = try get(
                "/containers/json?filters=\(QueryString.encode(filter + "}"))", atMost: Self.longestList,
                in: Self.patience,
                or: .all),
            let ids = RuntimeEvents.ids(ofList: json, readsTraefik: readsTraefik)
        else { throw Failure(reason: "\(path.escapedForTerminal) does not answer as a container runtime") }
        return ids
    }

    /// What a container is; nil where it is gone.
    func inspection(of id: String) throws(Failure) -> JSONValue? {
        try get("/containers/\(id)/json", atMost: Self.longestInspection, in: Self.inspectionPatience, or: .notTold)
    }

    /// Opens the stream of events.
    func events() throws(Failure) -> UnixConnection {
        try open(
            "/events?filters=\(QueryString.encode(#"{"type":["container"]}"#))", until: Deadline(in: Self.patience))
    }

    private func open(_ target: String, until deadline: Deadline) throws(Failure) -> UnixConnection {
        do throws(DiscoveryError) {
            let connection = try UnixConnection(path: path, until: deadline)
            let head = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nUser-Agent: discoverd\r\nConnection: close\r\n\r\n"
            try connection.send(Array(head.utf8), until: deadline)
            return connection
        } catch {
            throw Failure(reason: error.message)
        }
    }

    /// - Parameter extent: what fails where the answer breaks off or does not end in time.
    /// - Returns: nil for 404.
    private func get(
        _ target: String, atMost limit: Int, in patience: Duration, or extent: Failure.Extent
    ) throws(Failure) -> JSONValue? {
        let deadline = Deadline(in: patience)
        let connection = try open(target, until: deadline)
        var reader = HTTPResponseReader()
        var body: [UInt8] = []
        while !reader.isDone {
            let received: UnixConnection.Received
            do throws(DiscoveryError) {
                received = try connection.receive(until: deadline, bell: nil)
            } catch {
                throw Failure(reason: error.message, extent: extent)
            }
            do throws(HTTPResponseReader.Failure) {
                switch received {
                case .bytes(let bytes): try reader.received(bytes)
                case .ended: try reader.ended()
                case .timedOut, .rung: break
                }
            } catch {
                throw Failure(reason: "\(path.escapedForTerminal): \(error.reason)", extent: extent)
            }
            body += reader.takeBody()
            guard body.count <= limit else {
                throw Failure(
                    reason: "\(path.escapedForTerminal): the answer is longer than \(limit >> 20) MiB", extent: .tooLong
                )
            }
            // One that comes byte by byte, too: the deadline is of the whole answer.
            guard deadline.milliseconds > 0 || reader.isDone else {
                throw Failure(
                    reason: "\(path.escapedForTerminal): no answer in \(patience.components.seconds) s", extent: extent)
            }
        }
        if reader.status == 404 { return nil }
        guard reader.status == 200, let json = try? JSONReader.read(body) else {
            throw Failure(
                reason: "\(path.escapedForTerminal) answers with status \(reader.status ?? 0), or no JSON",
                extent: .notTold)
        }
        return json
    }
}

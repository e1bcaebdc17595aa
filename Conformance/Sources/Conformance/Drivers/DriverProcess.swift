import Foundation

/// An implementation behind a driver: a program on the other side of the link that is told what to do in lines of JSON, and answers each with
/// one (Conformance/drivers/driver.py).
package final class DriverProcess: Implementation {
    package let name: String
    package let version: String
    package let abilities: Set<Ability>
    private let process = Process()
    private let orders = Pipe()
    private let answers = Pipe()
    private var rest = Data()

    /// The driver did not do what it was told.
    package struct Failure: Error, CustomStringConvertible { package let description: String }

    private struct Answer: Decodable {
        var ok: Bool
        var error: String?
        var name: String?
        var version: String?
        var can: [String]?
        var heard: Int?
        var shown: [Shown]?
    }

    /// - Parameter command: the driver's command line, with what brings it to the host that is judged.
    package init(_ command: [String]) throws {
        guard let program = command.first else { throw Failure(description: "no driver") }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + command.dropFirst()
        process.standardInput = orders
        process.standardOutput = answers
        try process.run()
        let line = try Self.line(answers, &rest)
        guard let hello = try? JSONDecoder().decode(Answer.self, from: line), let name = hello.name else {
            throw Failure(description: "the driver said no name: \(String(decoding: line, as: UTF8.self).prefix(200))")
        }
        self.name = name
        version = hello.version ?? "?"
        abilities = Set((hello.can ?? []).compactMap(Ability.init(rawValue:)))
    }

    private static func line(_ pipe: Pipe, _ rest: inout Data) throws -> Data {
        while true {
            if let end = rest.firstIndex(of: 10) {
                defer { rest = rest[(end + 1)...] }
                return rest[..<end]
            }
            let more = pipe.fileHandleForReading.availableData
            guard !more.isEmpty, rest.count < 1 << 20 else { throw Failure(description: "the driver has ended") }
            rest.append(more)
        }
    }

    @discardableResult
    private func order(_ order: [String: Any]) throws -> Answer {
        var data = try JSONSerialization.data(withJSONObject: order)
        data.append(10)
        try orders.fileHandleForWriting.write(contentsOf: data)
        let line = try Self.line(answers, &rest)
        let answer = try JSONDecoder().decode(Answer.self, from: line)
        guard answer.ok else { throw Bench.Deviation(seen: answer.error ?? "the driver failed") }
        return answer
    }

    package func start(_ services: [Service]) throws {
        try order([
            "do": "start",
            "services": services.map { service in
                [
                    "name": service.name, "type": service.type, "port": Int(service.port),
                    "txt": service.txt.map { String(decoding: $0, as: UTF8.self) }, "subtypes": service.subtypes,
                    "process": service.process,
                ] as [String: Any]
            },
        ])
    }

    package func update(port: UInt16, txt: [[UInt8]]) throws {
        try order(["do": "update", "port": Int(port), "txt": txt.map { String(decoding: $0, as: UTF8.self) }])
    }

    package func withdraw(port: UInt16) throws { try order(["do": "withdraw", "port": Int(port)]) }

    package func end(process: Int, by signal: Signal) throws {
        try order(["do": "end", "process": process, "signal": signal.rawValue])
    }

    package func stop() throws { try order(["do": "stop"]) }

    package func change(_ change: HostChange) throws {
        switch change {
        case .addAddress(let address): try order(["do": "address", "add": true, "address": address])
        case .removeAddress(let address): try order(["do": "address", "add": false, "address": address])
        case .link(let isUp): try order(["do": "link", "up": isUp])
        case .squatter(let isThere): try order(["do": "squat", "there": isThere])
        case .route(let block): try order(["do": "route", "block": block])
        case .secondLink(let isThere, let onFirst): try order(["do": "second", "there": isThere, "first": onFirst])
        case .avahi(let isThere): try order(["do": "beside", "there": isThere])
        case .ask(let bytes):
            let answer = try order(["do": "ask", "bytes": bytes.map(Int.init)])
            guard answer.heard ?? 0 > 0 else {
                throw Bench.Deviation(seen: "a program of its own host hears no answer")
            }
        }
    }

    package func browse(_ type: String) throws { try order(["do": "browse", "type": type]) }

    package func shown() throws -> [Shown] { try order(["do": "shown"]).shown ?? [] }

    /// Ends the driver and all that it has started.
    package func close() {
        try? orders.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

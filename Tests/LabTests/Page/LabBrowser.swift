import Foundation
import Testing

/// Chromium on a host of the lab, driven by browser.py.
final class LabBrowser: Sendable {
    private let process: LabProcess

    /// How many services are shown.
    static let shown = "document.querySelectorAll('.group:not([hidden]) li.service:not([hidden])').length"
    /// The row with this text.
    static func row(_ text: String) -> String {
        "[...document.querySelectorAll('li.service')].find((row) => row.textContent.includes(\"\(text)\"))"
    }
    /// An array of what an expression of `one` is for each element.
    static func each(_ selector: String, _ expression: String) -> String {
        "[...document.querySelectorAll('\(selector)')].map((one) => \(expression))"
    }

    private init(_ process: LabProcess) { self.process = process }

    static func start(on host: String, of lab: Lab) async throws -> LabBrowser {
        let process = try lab.python(host, "browser.py")
        try await process.line(.stdout, within: .seconds(60), "ready") { $0.contains("ready") }
        return LabBrowser(process)
    }

    /// What the script's expression is, once it is true.
    @discardableResult
    func until(_ script: String, within seconds: Int = 30) async throws -> Any {
        try await ask(["do": "until", "script": script, "within": seconds], within: .seconds(seconds + 20))
    }

    @discardableResult
    func value(_ script: String) async throws -> Any { try await ask(["do": "value", "script": script]) }
    func text(_ script: String) async throws -> String { try #require(await value(script) as? String) }
    func texts(_ script: String) async throws -> [String] { try #require(await value(script) as? [String]) }
    func number(_ script: String) async throws -> Int { try #require(await value(script) as? Int) }
    func open(_ url: String) async throws { _ = try await ask(["do": "open", "url": url]) }
    func openWindow() async throws { _ = try await ask(["do": "window"]) }
    func type(_ text: String, at selector: String) async throws {
        _ = try await ask(["do": "type", "at": selector, "text": text])
    }
    func click(_ selector: String) async throws { _ = try await ask(["do": "click", "at": selector]) }
    func size(
        _ width: Int, _ height: Int, scale: Double = 1, isPhone: Bool = false, isDark: Bool = false
    ) async throws {
        _ = try await ask([
            "do": "size", "width": width, "height": height, "scale": scale, "phone": isPhone, "dark": isDark,
        ])
    }

    /// Keeps what the window shows: in docs/pictures if `DISCOVERD_PICTURES` names that, else beside the results of the tests.
    func picture(_ name: String) async throws {
        let folder = ProcessInfo.processInfo.environment["DISCOVERD_PICTURES"] ?? "\(Lab.package).build-tests/pictures"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = try await ask(["do": "picture", "path": "\(folder)/\(name).png"])
    }

    /// Errors and warnings of the console, and requests to other origins than the page's.
    func problems(of origin: String) async throws -> [String] {
        try #require(await ask(["do": "problems", "origin": origin]) as? [String])
    }

    func end() async throws {
        process.closeInput()
        try await process.exit(within: .seconds(20))
    }

    private func ask(_ request: [String: Any], within limit: Duration = .seconds(60)) async throws -> Any {
        let data = try JSONSerialization.data(withJSONObject: request)
        process.write(String(decoding: data, as: UTF8.self) + "\n")
        let line = try await process.line(.stdout, within: limit, "an answer to \(request)") { _ in true }
        let answer = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        if let error = answer?["error"] as? String { throw LabProcess.Missed(description: error) }
        return answer?["value"] ?? NSNull()
    }
}

/// A running `discoverd show`.
struct ShownPage {
    let process: LabProcess
    /// With the token.
    let url: String

    var origin: String { url.components(separatedBy: "/#")[0] }

    static func start(on host: String, of lab: Lab, _ options: String...) async throws -> ShownPage {
        let process = try lab.exec(host, [Built.discoverd, "show"] + options)
        let url = try await process.line(.stdout, within: .seconds(20), "a URL") { $0.hasPrefix("http://127.0.0.1:") }
        return ShownPage(process: process, url: url)
    }

    func stop() async throws { try await process.stop() }
}

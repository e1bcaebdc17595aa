internal import DNSSD
internal import Libc

extension Probe {
    /// The most that is read of an answer: its status line is all that counts.
    private static let maximumAnswer = 512

    /// Asks with HTTP/1.1 and expects 2xx or 3xx. The body is not waited for.
    func http(_ path: String, _ port: Port) async throws(ProbeFailure) {
        let descriptor = try await connect(to: port)
        defer { close(descriptor) }
        let request =
            "GET \(path) HTTP/1.1\r\nHost: localhost:\(port)\r\nUser-Agent: discoverd\r\n"
            + "Accept: */*\r\nConnection: close\r\n\r\n"
        try await send(Array(request.utf8), to: descriptor)
        let line = try await statusLine(from: descriptor)
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), parts[1].utf8.count == 3, let status = Int(parts[1])
        else {
            throw ProbeFailure("port \(port) did not answer with HTTP")
        }
        guard (200..<400).contains(status) else {
            throw ProbeFailure("HTTP \(status) for \(path.escapedForTerminal)")
        }
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) async throws(ProbeFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { bytes in
                unsafe Libc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if sent >= 0 {
                rest = rest.dropFirst(sent)
            } else if errno == EAGAIN {
                try await wait(for: descriptor, POLLOUT)
            } else if errno != EINTR {
                throw ProbeFailure("HTTP request", code: errno)
            }
        }
    }

    private func statusLine(from descriptor: Int32) async throws(ProbeFailure) -> String {
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: Self.maximumAnswer)
        while answer.count < Self.maximumAnswer {
            let got = unsafe recv(descriptor, &buffer, Self.maximumAnswer - answer.count, 0)
            if got > 0 {
                answer += buffer.prefix(got)
                if let end = answer.firstIndex(of: UInt8(ascii: "\r")) ?? answer.firstIndex(of: UInt8(ascii: "\n")) {
                    return String(decoding: answer[..<end], as: UTF8.self)
                }
            } else if got == 0 {
                throw ProbeFailure("the connection was closed without an answer")
            } else if errno == EAGAIN {
                try await wait(for: descriptor, POLLIN)
            } else if errno != EINTR {
                throw ProbeFailure("HTTP answer", code: errno)
            }
        }
        return ""
    }
}

import DNSSD
import Discovery
import DiscoveryNetService
import DiscoveryTesting
import Foundation
import Synchronization
import Testing

/// Delegates on the run loop of a thread, as in ported programs; and blocking streams.
@Suite("Run loops and streams", .timeLimit(.minutes(5)))
struct RunLoopTests {
    /// A network of one machine with loopback only: services published here are dialled at 127.0.0.1.
    private let network: LocalNetwork

    init() throws {
        network = LocalNetwork(engine: try SimulatedNetwork().addMachine("h1", interfaces: [.loopback]))
    }

    private final class Server: NSObject, NetServiceDelegate {
        let thread = Thread.current
        var calls: [String] = []
        var streams: (InputStream, OutputStream)?
        var isOver = false

        func netServiceDidPublish(_ sender: NetService) { said("published") }
        func netServiceDidStop(_ sender: NetService) {
            said("stopped")
            isOver = true
        }
        func netService(
            _ sender: NetService, didAcceptConnectionWith inputStream: InputStream, outputStream: OutputStream
        ) {
            said("accepted")
            streams = (inputStream, outputStream)
            sender.stop()
        }

        private func said(_ call: String) { calls.append(Thread.current === thread ? call : "\(call) elsewhere") }
    }

    /// Runs `body` on a separate thread.
    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    @Test(
        "a server in the run loop of its thread, and a client that reads and writes without one",
        arguments: [3, 1_000_000])
    func streams(_ size: Int) async throws {
        let sent = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let network = network
        let served = Task {
            await onThread { () -> ([String], [UInt8]) in
                let service = NetService(domain: "", type: "_tonyipp._tcp", name: "tony", port: 0)
                service.network = network
                let server = Server()
                service.delegate = server
                service.publish(options: .listenForConnections)
                // Has an end of its own: without a client, whose failure shows below, nothing would ever wake it.
                let end = Date(timeIntervalSinceNow: 50)
                while !server.isOver, end > Date(), RunLoop.current.run(mode: .default, before: end) {}
                guard let (input, output) = server.streams else { return (server.calls, []) }
                input.open()
                output.open()
                // The greeting goes first, to use both directions.
                _ = output.write([0x21], maxLength: 1)
                return (server.calls, Self.readAll(input))
            }
        }
        // Published in a moment; `connect` waits for it.
        let greeting = await onThread { () -> [UInt8] in
            let tony = NetService(domain: "", type: "_tonyipp._tcp", name: "tony")
            tony.network = network
            var input: InputStream?
            var output: OutputStream?
            guard tony.getInputStream(&input, outputStream: &output), let input, let output else { return [] }
            input.open()
            output.open()
            var rest = sent[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBufferPointer { buffer in
                    buffer.baseAddress.map { output.write($0, maxLength: buffer.count) } ?? 0
                }
                guard count > 0 else { return [] }
                rest = rest.dropFirst(count)
            }
            output.close()
            return Self.readAll(input)
        }
        let (calls, received) = await served.value
        #expect(greeting == [0x21])
        // The client may be faster than the report that the service is published.
        #expect(calls.filter { $0 != "published" } == ["accepted", "stopped"])
        // Not `received == sent`: reporting the differences in a million bytes would take longer than the time limit.
        let isAll = received == sent
        #expect(isAll, "\(received.count) of \(sent.count) bytes")
        await network.shutdown()
    }

    private static func readAll(_ input: InputStream) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            let count = input.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return all }
            all += buffer[..<count]
        }
    }

    @MainActor @Test("a port on which another listens is -72000, with a sentence")
    func portInUse() async {
        let recorder = Recorder()
        let first = NetService(domain: "", type: "_tonyipp._tcp", name: "tony", port: 0)
        let second = NetService(domain: "", type: "_tonyipp._tcp", name: "ann", port: 0)
        for service in [first, second] {
            service.network = network
            service.delegate = recorder
        }
        first.publish(options: .listenForConnections)
        #expect(await recorder.words(2).last == "did publish tony")
        #expect(first.port > 0)
        let third = NetService(domain: "", type: "_tonyipp._tcp", name: "ann", port: Int32(first.port))
        third.network = network
        third.delegate = recorder
        third.publish(options: .listenForConnections)
        #expect(await recorder.words(4).last == "did not publish 10 -72000")
        #expect(third.failure?.message.contains("cannot listen") == true)
        second.publish(options: .listenForConnections)
        #expect(await recorder.words(6).last == "did publish ann")
        first.stop()
        second.stop()
        #expect(await recorder.words(8).suffix(2) == ["did stop", "did stop"])
    }

    @Test("streams to a missing service end with an error that says so")
    func nobody() async throws {
        let network = network
        let error = await onThread { () -> String? in
            let nobody = NetService(domain: "", type: "_tonyipp._tcp", name: "nobody")
            nobody.network = network
            var input: InputStream?
            guard nobody.getInputStream(&input, outputStream: nil), let input else { return nil }
            input.open()
            var byte: UInt8 = 0
            guard input.read(&byte, maxLength: 1) == -1, input.streamStatus == .error else { return nil }
            return (input.streamError as NSError?).map { "\($0.domain) \($0.code)" }
        }
        #expect(error == "NSPOSIXErrorDomain \(ETIMEDOUT)")
        let wrong = NetService(domain: "", type: "nonsense.", name: "x\u{0}")
        var input: InputStream?
        #expect(!wrong.getInputStream(&input, outputStream: nil) && input == nil)
        await network.shutdown()
    }
}

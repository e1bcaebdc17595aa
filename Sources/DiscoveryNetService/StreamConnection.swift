import DNSSD
import Discovery
import DiscoverySystem
import Foundation
import NIOCore

/// The TCP connection beneath a pair of streams: holds bytes received but not read, and bytes waiting to be sent.
///
/// Reading from the network pauses while 64 KiB wait to be read; writing reports no space while 64 KiB wait to be sent.
final class StreamConnection: Sendable {
    static let capacity = 64 * 1024

    enum Phase { case idle, connecting, open, failed(NSError), closed }

    /// How a stream uses its direction.
    enum Use { case unopened, open, closed }

    struct Value {
        var phase = Phase.idle
        var channel: (any Channel)?
        var received = ByteBuffer()
        var isAtEnd = false
        var sending = 0
        var wantsRead = false
        var input = Use.unopened
        var output = Use.unopened
        /// No one uses the connection any more; the channel is closed once everything is sent.
        var isOver = false
        var isTaken = false
        var inputChanged: (@Sendable () -> Void)?
        var outputChanged: (@Sendable () -> Void)?
        var task: Task<Void, Never>?
    }

    private let value = Locked(Value())
    /// Wakes threads that wait for `value` to change.
    private let changes = NSCondition()
    /// Where to connect when a stream is opened; nil if the connection exists already.
    let target: (instance: ServiceInstance, network: LocalNetwork)?

    /// A connection to a service, made when one of its streams is opened.
    init(to instance: ServiceInstance? = nil, _ network: LocalNetwork? = nil) {
        target = if let instance, let network { (instance, network) } else { nil }
    }

    func locked<Result>(_ body: (inout Value) -> Result) -> Result { value.withLock(body) }

    /// Waits until `body` returns a result; calls it immediately, and after every change.
    func waiting<Result>(for body: (inout Value) -> Result?) -> Result {
        changes.lock()
        defer { changes.unlock() }
        while true {
            if let result = value.withLock(body) { return result }
            changes.wait()
        }
    }

    /// Wakes the waiting threads after a change. A thread between checking and waiting holds the lock.
    func wake() {
        changes.lock()
        changes.broadcast()
        changes.unlock()
    }

    /// Makes a change that threads may wait for, and notifies both streams. `body` must not call a channel, which may call back
    /// immediately.
    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, input, output) = locked { value in
            let result = body(&value)
            return (result, value.inputChanged, value.outputChanged)
        }
        wake()
        input?()
        output?()
        return result
    }
}

extension StreamConnection {
    enum Direction {
        case input, output

        var other: Direction { self == .input ? .output : .input }
    }
}

extension StreamConnection.Value {
    subscript(direction: StreamConnection.Direction) -> StreamConnection.Use {
        get { direction == .input ? input : output }
        set { if direction == .input { input = newValue } else { output = newValue } }
    }

    var isConnecting: Bool {
        if case .connecting = phase { true } else { false }
    }

    var isAlive: Bool {
        switch phase {
        case .connecting, .open: true
        case .idle, .failed, .closed: false
        }
    }
}

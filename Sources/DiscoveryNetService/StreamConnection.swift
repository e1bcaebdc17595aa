import DNSSD
import Discovery
import Foundation
import NIOCore
import System

/// A TCP connection under a pair of streams: bytes that came and were not read, bytes that are on their way out.
///
/// Reading from the network stops while 64 KiB wait to be read, and writing says that there is no space while 64 KiB wait to be sent.
final class StreamConnection: Sendable {
    static let capacity = 64 * 1024

    enum Phase { case idle, connecting, open, failed(NSError), closed }

    /// What a stream does with its direction.
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
        /// Nobody uses it any more; the channel is closed when everything is sent.
        var isOver = false
        var isTaken = false
        var inputChanged: (@Sendable () -> Void)?
        var outputChanged: (@Sendable () -> Void)?
        var task: Task<Void, Never>?
    }

    private let value = Locked(Value())
    /// Of those who wait for `value` to change.
    private let changes = NSCondition()
    /// Makes the connection when a stream is opened; nil when it is there already.
    let target: (instance: ServiceInstance, network: LocalNetwork)?

    /// A connection to a service, made when one of its streams is opened.
    init(to instance: ServiceInstance? = nil, _ network: LocalNetwork? = nil) {
        target = if let instance, let network { (instance, network) } else { nil }
    }

    func locked<Result>(_ body: (inout Value) -> Result) -> Result { value.withLock(body) }

    /// Waits until `body` has a result; it is asked at once, and whenever something has changed.
    func waiting<Result>(for body: (inout Value) -> Result?) -> Result {
        changes.lock()
        defer { changes.unlock() }
        while true {
            if let result = value.withLock(body) { return result }
            changes.wait()
        }
    }

    /// Ends such waiting, after a change. Who is between asking and waiting holds the lock.
    func wake() {
        changes.lock()
        changes.broadcast()
        changes.unlock()
    }

    /// Changes something that somebody may wait for, and tells both streams. No channel is called in `body`: it may call
    /// back at once.
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

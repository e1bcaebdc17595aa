/// A conversation with a D-Bus. A value: it takes bytes and returns bytes.
protocol BusConversation {
    associatedtype Step: BusStep

    /// What the bus sends.
    var stream: BusStream { get set }

    /// The first calls, once the bus has let us in.
    mutating func questions() -> [UInt8]
    /// What to do about a message.
    mutating func steps(_ message: BusMessage) -> [Step]
}

/// What to do about received bytes.
protocol BusStep: Equatable {
    static func send(_ bytes: [UInt8]) -> Self
    /// The connection is of no more use: close it.
    static var over: Self { get }
}

extension BusConversation {
    /// Takes bytes from the bus. Nothing follows `over`.
    mutating func received(_ bytes: some Sequence<UInt8>) -> [Step] {
        var steps: [Step] = []
        for item in stream.received(bytes) {
            switch item {
            case .authenticated: steps.append(.send(BusStream.begin + questions()))
            case .message(let message): steps += self.steps(message)
            case .over: steps.append(.over)
            }
            guard steps.last != .over else {
                stream.end()
                break
            }
        }
        return steps
    }
}

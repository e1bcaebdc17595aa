import DiscoveryTLS
import FileDropCore
import NIOCore
import Synchronization

/// The places of a listener's connections.
final class Seats: Sendable {
    private struct State {
        var seating: Seating
        var channels: [UInt64: any Channel] = [:]
        var next: UInt64 = 0
    }

    private let state: Mutex<State>

    init(limit: Int, strangers: Int) { state = Mutex(State(seating: Seating(limit: limit, strangers: strangers))) }

    /// Gives a connection a place; nil where there is none. Each place requires one `leave()`.
    func enter(_ connection: DropConnection, isKnown: Bool) -> Seat? {
        let (seat, displaced) = state.withLock { state -> (Seat?, (any Channel)?) in
            let id = state.next
            state.next += 1
            switch state.seating.enter(id, isKnown: isKnown) {
            case .full: return (nil, nil)
            case .enters:
                state.channels[id] = connection.stream.channel
                return (Seat(seats: self, id: id), nil)
            case .entersInPlaceOf(let other):
                state.channels[id] = connection.stream.channel
                return (Seat(seats: self, id: id), state.channels[other])
            }
        }
        displaced?.close(promise: nil)
        return seat
    }

    /// One connection's place.
    struct Seat: Sendable {
        fileprivate let seats: Seats
        fileprivate let id: UInt64

        /// It has introduced itself.
        func introduced(isKnown: Bool) {
            seats.state.withLock { isKnown ? $0.seating.admitted(id) : $0.seating.introduced(id) }
        }

        func leave() {
            seats.state.withLock { state in
                state.seating.leave(id)
                state.channels[id] = nil
            }
        }
    }
}

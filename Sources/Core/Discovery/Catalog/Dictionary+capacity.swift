extension Dictionary {
    /// Gives back the memory of members that have left, if they were most of thousands: a dictionary alone never does.
    package mutating func giveBack() {
        guard capacity > 4096, count < capacity / 3 else { return }
        self = filter { _ in true }
    }
}

extension Set {
    /// Gives back the memory of members that have left, if they were most of thousands.
    package mutating func giveBack() {
        guard capacity > 4096, count < capacity / 3 else { return }
        self = filter { _ in true }
    }
}

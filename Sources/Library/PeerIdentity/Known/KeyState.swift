/// Whether the key that a name had when it was last connected to is known.
public enum KeyState: String, Hashable, Sendable {
    /// It is the name's known key.
    case known
    /// No key of the name is known.
    case unknown
    /// The name's known key is another.
    case changed
}

extension KnownPeers {
    /// The most names whose last keys are kept.
    public static let mostLastKeys = 1000

    /// What is known of the key that a name had last.
    /// - Parameters:
    ///   - name: the name.
    ///   - last: the keys that names had last, of the file `KnownPeersFile.lastKeysName`.
    /// - Returns: nil for a name that was not connected to.
    public func state(of name: PeerName, lastKeys last: KnownPeers) -> KeyState? {
        guard let key = last.keys(of: name).last else { return nil }
        return switch verdict(on: key, of: name, .known) {
        case .known, .learned, .vouched: .known
        case .unknown: .unknown
        case .changed, .foreign: .changed
        }
    }
}

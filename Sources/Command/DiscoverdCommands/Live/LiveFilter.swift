#if Commands
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

/// What a person types to see fewer services: any part of what is shown of them, whatever its case. A value.
struct LiveFilter: Hashable {
    /// What is looked at of a service.
    struct Text: Hashable {
        /// A TXT record may be long; what people look for is at its beginning.
        private static let limit = 2048
        fileprivate let bytes: [UInt8]

        init(_ service: DiscoveredService) {
            let text = service.textFields(.full).joined(separator: " ")
            bytes = Array(String(text.prefix(Self.limit)).lowercased().utf8)
        }
    }

    /// No one types more.
    static let limit = 100

    /// As it was typed.
    private(set) var text: String
    private let bytes: [UInt8]

    init(_ text: String) {
        self.text = String(text.prefix(Self.limit))
        bytes = Array(self.text.lowercased().utf8)
    }

    var isEmpty: Bool { bytes.isEmpty }

    func matches(_ text: Text) -> Bool {
        guard let first = bytes.first else { return true }
        var rest = text.bytes[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: bytes) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
#endif

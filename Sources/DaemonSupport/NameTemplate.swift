internal import DNSSD
internal import DiscoverySystem

/// A service's name with `%h` for the host's and `%%` for a per cent sign.
enum NameTemplate {
    /// - Throws: `.invalidServiceName` for any other `%`.
    static func expand(_ text: String, host: String) throws(DiscoveryError) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var result = String.UnicodeScalarView()
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "%" else {
                result.append(scalar)
                continue
            }
            switch scalars.next() {
            case "h": result.append(contentsOf: host.unicodeScalars)
            case "%": result.append("%")
            default:
                throw DiscoveryError(
                    .invalidServiceName, "\(text.quotedForMessage): after % only h (the host's name) and % are known")
            }
        }
        return String(result)
    }

    /// This machine's name without its domain.
    static var hostName: String { Environment.hostLabel ?? "localhost" }
}

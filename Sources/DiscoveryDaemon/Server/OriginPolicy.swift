internal import DNSSD
internal import DiscoveryControl
internal import HTTPTypes
internal import HummingbirdCore

/// Keeps web pages from reading what a browser on this machine could reach over TCP.
enum OriginPolicy {
    /// - Throws: 403 for a `Host` that is no address and not `localhost` (DNS rebinding), and for a request that a page of
    ///   another origin caused.
    static func check(_ request: Request, hosts: [String]) throws(ControlError) {
        let authority = request.head.authority ?? ""
        guard isLocal(authority, hosts: hosts) else {
            throw ControlError(403, "foreign-host", "\(authority.quotedForMessage) is not this machine's address")
        }
        if let origin = request.headers[.origin], origin != "http://\(authority)" {
            throw ControlError(403, "cross-origin", "requests of other origins are not served")
        }
        if let site = HTTPField.Name("Sec-Fetch-Site").flatMap({ request.headers[$0] }),
            site == "cross-site" || site == "same-site"
        {
            throw ControlError(403, "cross-origin", "requests of other origins are not served")
        }
    }

    /// Whether a name cannot have been pointed here by somebody else's DNS.
    static func isLocal(_ authority: String, hosts: [String] = []) -> Bool {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return false }
            return IPAddress(String(authority[authority.index(after: authority.startIndex)..<end])) != nil
        }
        let host = authority.split(separator: ":", maxSplits: 1).first.map(String.init) ?? ""
        return host.lowercased() == "localhost" || hosts.contains(host.lowercased()) || IPAddress(host) != nil
    }
}

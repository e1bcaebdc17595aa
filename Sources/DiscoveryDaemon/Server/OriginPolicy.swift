internal import DNSSD
internal import DiscoveryControl
internal import HTTPTypes
internal import HummingbirdCore

/// Keeps web pages from reading what a browser on this machine could reach over TCP.
package enum OriginPolicy {
    /// - Throws: 403 for a `Host` that is no address and not `localhost` (DNS rebinding), and for a request that a page of
    ///   another origin caused.
    static func check(_ request: Request, hosts: [String]) throws(ControlError) {
        let authority = request.head.authority ?? ""
        guard isLocal(authority, hosts: hosts) else {
            throw ControlError(403, "foreign-host", "\(authority.quotedForMessage) is not this machine's address")
        }
        if let origin = request.headers[.origin], origin.lowercased() != "http://\(authority.lowercased())" {
            throw ControlError(403, "cross-origin", "requests of other origins are not served")
        }
        if let site = HTTPField.Name("Sec-Fetch-Site").flatMap({ request.headers[$0] }), !isOwnSite(site) {
            throw ControlError(403, "cross-origin", "requests of other origins are not served")
        }
    }

    /// Whether no foreign DNS server can have pointed the name here.
    package static func isLocal(_ text: String, hosts: [String] = []) -> Bool {
        guard let authority = Authority(text) else { return false }
        return authority.host == "localhost" || hosts.contains(authority.host) || IPAddress(authority.host) != nil
    }

    /// Values of requests by our pages or a person (Fetch Metadata §2.2); any other value is a foreign page's.
    package static func isOwnSite(_ text: String) -> Bool { ["same-origin", "none"].contains(text.lowercased()) }
}

internal import DNSSD
internal import DiscoveryControl
internal import NIOHTTP1

/// Keeps web pages from reading what a browser on this machine could reach over TCP.
package enum OriginPolicy {
    /// - Throws: 403 for a `Host` that is no address and not `localhost` (DNS rebinding), and for a request that a page of
    ///   another origin caused.
    static func check(_ head: HTTPRequestHead, hosts: [String]) throws(ControlError) {
        let authority = head.headers["Host"].first ?? ""
        guard isLocal(authority, hosts: hosts) else {
            throw ControlError(403, "foreign-host", "\(authority.quotedForMessage) is not this machine's address")
        }
        let isOfOwnPage =
            head.headers["Origin"].allSatisfy { $0.lowercased() == "http://\(authority.lowercased())" }
            && head.headers["Sec-Fetch-Site"].allSatisfy(isOwnSite)
        guard isOfOwnPage else {
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

internal import DNSSD
internal import DiscoveryControl
internal import NIOHTTP1

/// The host that a request is for, with a port if there is one: what `Host` may say, and no more (RFC 9112 §3.2,
/// `uri-host [ ":" port ]` of RFC 3986 §3.2).
package struct Authority: Hashable, Sendable {
    /// An IPv6 address without its brackets, an IPv4 address, or a name; in lower case, empty where the field is.
    package let host: String
    /// Nil without one; of `h1:`, which RFC 3986 allows, too.
    package let port: UInt16?

    /// Nil for everything else, as user information, or a port that is no number of 16 bits.
    package init?(_ text: String) {
        var rest = text[...]
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let inside = text[text.index(after: text.startIndex)..<end]
            guard !inside.contains("%"), case .v6? = IPAddress(String(inside)) else { return nil }
            host = inside.lowercased()
            rest = text[text.index(after: end)...]
        } else {
            let name = text.prefix { $0 != ":" }
            // RFC 3986 §3.2.2: `reg-name` without what must be written in per cent signs, which no host of ours has.
            guard name.utf8.allSatisfy(\.isUnreserved), name.utf8.count <= 255 else { return nil }
            host = name.lowercased()
            rest = text[name.endIndex...]
        }
        guard rest.hasPrefix(":") else {
            guard rest.isEmpty else { return nil }
            port = nil
            return
        }
        let digits = rest.dropFirst()
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), digits.isEmpty || UInt16(digits) != nil else { return nil }
        port = UInt16(digits)
    }

    /// What the absolute form of a target names (`http://h1:9331/v1/ping`): `.some(nil)` where that is no authority,
    /// nil for every other form.
    package static func ofTarget(_ target: String) -> Authority?? {
        guard !target.hasPrefix("/"), let start = target.firstRange(of: "://")?.upperBound else { return nil }
        return .some(Authority(String(target[start...].prefix { !"/?#".contains($0) })))
    }

    /// Path and query of a target in absolute form, as the origin form has them (RFC 9112 §3.2.2); every other target as it is.
    package static func originForm(of target: String) -> String {
        let scheme = "http://"
        guard target.prefix(scheme.count).lowercased() == scheme else { return target }
        let rest = target.dropFirst(scheme.count).prefix { $0 != "#" }.drop { !"/?".contains($0) }
        return rest.hasPrefix("/") ? String(rest) : "/" + rest
    }
}

extension Authority {
    /// Why a head does not name its host once and clearly (RFC 9112 §3.2): there is a second `Host`, or the authority of a target in absolute
    /// form is another. Asked before the parts of a head that are not kept are lost.
    static func refusal(of head: HTTPRequestHead) -> String? {
        let hosts = head.headers["Host"]
        guard hosts.count <= 1 else { return "there are \(hosts.count) Host fields" }
        guard let host = hosts.first else {
            return head.version == .http1_1 ? "there is no Host field" : nil
        }
        guard let authority = Authority(host) else { return "the Host field is no host and port" }
        guard let target = Authority.ofTarget(head.uri) else { return nil }
        return target == authority ? nil : "the target is for another host than the Host field says"
    }
}

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

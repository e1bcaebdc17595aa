internal import DNSSD
internal import DiscoveryJSON

/// What one rule of the gateway does now.
package struct GatewayStatus: Hashable, Sendable {
    package let rule: ExportRule
    /// Services in the zone, or on the way there.
    package let published: Int
    /// Services of the link that are not exported, by reason.
    package let refused: [ExportRefusal: Int]
    /// Why the link or site is not followed now, or that a link is missing; nil when all is well.
    package let failure: String?
    /// The other sites that follow now what they are told.
    package var connected: [String] = []

    fileprivate var place: [(String, String)] {
        switch rule.destination {
        case .zone(let domain): [("domain", domain.text)]
        case .links(let links):
            [("domain", rule.domain.text), from, ("to", links.interfaces.patterns.joined(separator: ","))]
        case .peers: [("domain", rule.domain.text), from, ("to", "peers")]
        }
    }

    private var from: (String, String) {
        switch rule.source {
        case .links(let links): ("from", links.patterns.joined(separator: ","))
        case .peer(let peer): ("from", peer.name)
        }
    }
}

extension JSONWriter {
    /// - Parameter inFull: with why the link is not followed.
    mutating func export(_ gateway: GatewayStatus, inFull: Bool) {
        object { object in
            object.member("domain", gateway.rule.domain.text)
            object.member("interfaces", gateway.rule.interfaces.patterns)
            if case .peer(let peer) = gateway.rule.source { object.member("peer", peer.name) }
            switch gateway.rule.destination {
            case .zone: break
            case .links(let links): object.member("to", links.interfaces.patterns)
            case .peers(let listen):
                if inFull { object.member("listen", listen.description) }
                object.member("peers", listen.peers)
                object.member("connected", gateway.connected)
            }
            object.member("types", gateway.rule.followed.map(\.description))
            object.member("services", gateway.published)
            if inFull, let failure = gateway.failure { object.member("reason", failure) }
            object.object("refused") { refused in
                for refusal in ExportRefusal.allCases {
                    if let count = gateway.refused[refusal] { refused.member(refusal.rawValue, count) }
                }
            }
        }
    }
}

extension PrometheusText {
    mutating func exports(_ gateways: [GatewayStatus]) {
        guard !gateways.isEmpty else { return }
        describe(
            "discoverd_exported_services", .gauge,
            "Services of a link or site that are in a zone, on another link, or told to other sites.")
        for gateway in gateways {
            sample("discoverd_exported_services", gateway.place, Double(gateway.published))
        }
        describe("discoverd_export_refused", .gauge, "Services of a link or site that are not exported now, by reason.")
        for gateway in gateways {
            for refusal in ExportRefusal.allCases {
                sample(
                    "discoverd_export_refused",
                    gateway.place + [("reason", refusal.rawValue)],
                    Double(gateway.refused[refusal] ?? 0))
            }
        }
    }
}

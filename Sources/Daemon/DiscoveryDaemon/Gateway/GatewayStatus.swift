internal import DNSSD
internal import DiscoveryJSON

/// What one rule of the gateway does now.
package struct GatewayStatus: Hashable, Sendable {
    package let rule: ExportRule
    /// Services in the zone, or on the way there.
    package let published: Int
    /// Services of the link that are not exported, by reason.
    package let refused: [ExportRefusal: Int]
    /// Why the link is not followed now, or that one is missing; nil when all is well.
    package let failure: String?

    fileprivate var place: [(String, String)] {
        switch rule.destination {
        case .zone(let domain): [("domain", domain.text)]
        case .links(let links):
            [
                ("domain", rule.domain.text), ("from", rule.interfaces.patterns.joined(separator: ",")),
                ("to", links.interfaces.patterns.joined(separator: ",")),
            ]
        }
    }
}

extension JSONWriter {
    /// - Parameter inFull: with why the link is not followed.
    mutating func export(_ gateway: GatewayStatus, inFull: Bool) {
        object { object in
            object.member("domain", gateway.rule.domain.text)
            object.member("interfaces", gateway.rule.interfaces.patterns)
            if case .links(let links) = gateway.rule.destination { object.member("to", links.interfaces.patterns) }
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
        describe("discoverd_exported_services", .gauge, "Services of a link that are in a zone, or on another link.")
        for gateway in gateways {
            sample("discoverd_exported_services", gateway.place, Double(gateway.published))
        }
        describe("discoverd_export_refused", .gauge, "Services of a link that are not exported now, by reason.")
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

import DNSMessage
import DNSSD
import DiscoverySystem
package import MulticastEngine

/// Names of the link that two hosts claim, each with records of its own.
package struct NameDisputes: Sendable {
    /// A name, and who claims it.
    package struct Dispute: Hashable, Sendable {
        /// The service's full name, or the host's. Safe for a terminal.
        package let name: String
        package let owner: NameSurvey.Dispute.Owner
        package var isService: Bool { owner == .service }
        package var mayBeOne: Bool { owner == .hostOrTwo }
        /// The hosts' addresses, with what each says of the name. Safe for a terminal.
        package let sides: [String]
    }

    /// How many services were heard of.
    package let services: Int
    /// How many host names were heard of.
    package let hosts: Int
    /// The disputes, each once.
    package let disputes: [Dispute]

    /// Asks the links for 2.5 s; blocks.
    /// - Returns: nil where there is no link, or UDP port 5353 is not shared.
    package static func survey() -> NameDisputes? {
        let inquiry = LinkInquiry(on: .all, over: nil, asQuery: true)
        guard inquiry.links.contains(where: { !$0.interface.isLoopback }) else { return nil }
        var survey = NameSurvey(own: inquiry.ownAddresses)
        inquiry.run(&survey, within: NameSurvey.time) { false }
        return NameDisputes(survey)
    }

    package init(_ survey: NameSurvey) {
        (services, hosts) = survey.count
        disputes = survey.disputes.map { dispute in
            Dispute(
                name: dispute.name.presentation, owner: dispute.owner,
                sides: dispute.sides.map { side in
                    let records = side.records.map { Self.text($0, dispute.interface) }.sorted()
                    return "\(side.host) on \(dispute.interface.name) says \(records.joined(separator: ", "))"
                })
        }
    }

    private static func text(_ data: RecordData, _ interface: NetworkInterface) -> String {
        if case .srv(_, _, let port, let host) = data { return "\(host.presentation) port \(port)" }
        return IPAddress(data, scope: interface.index).map(\.description) ?? "?"
    }
}

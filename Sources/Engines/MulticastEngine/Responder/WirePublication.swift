import DNSSD
import Discovery
import DiscoverySystem
import Records
import Responder

/// One service, or a host's addresses without one, on every link that it wants. Used only on the loop's thread.
final class WirePublication {
    let number: UInt64
    let wish: LinkWish
    var service: OfferedService
    var registration: Registration
    let report: @Sendable (PublicationFact) -> Void
    /// This machine had the name a moment ago: the first attempt does without probes.
    var isProven: Bool
    /// The links on which it is claimed, and whether it is established there.
    var links: [NetworkInterface: Bool] = [:]

    init(
        _ service: OfferedService, _ registration: Registration, number: UInt64, isProven: Bool,
        report: @escaping @Sendable (PublicationFact) -> Void
    ) {
        self.isProven = isProven
        (self.service, self.registration, self.number, self.report) = (service, registration, number, report)
        wish = LinkWish(interfaces: service.interfaces, families: IPAddress.Family.both)
    }

    /// The claim whose establishment counts.
    var id: ClaimID { service.isAddressRecord ? .other(number) : .service(number) }

    /// Everything that it claims under its present name on a link where this machine has these addresses. Empty if a name is too long for DNS.
    func claims(_ own: [IPAddress] = []) -> [(id: ClaimID, claim: Claim)] {
        Claim.all(of: service, as: registration.name, number: number, own: own)
    }

    var isEstablished: Bool { !links.isEmpty && links.values.allSatisfy(\.self) }
}

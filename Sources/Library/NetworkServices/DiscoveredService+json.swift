public import DNSSD
public import DiscoveryJSON

extension DiscoveredService {
    /// The service as one line of JSON without its end, with members in the order of docs/contract.md; safe for a terminal. For an encoder it
    /// is `Codable`.
    public func json(_ detail: ServiceDetail = .full) -> String {
        var writer = JSONWriter()
        writer.service(self, detail: detail)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

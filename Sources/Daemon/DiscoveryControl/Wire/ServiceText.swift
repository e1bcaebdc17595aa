public import DNSSD
public import DiscoveryJSON

extension DiscoveredService {
    /// The columns of `discoverd browse`, each safe for a terminal and without tabs.
    public func textFields(_ detail: ServiceDetail) -> [String] {
        var fields = [
            instance.name.description, instance.type.description, instance.domain.description,
            interfaces.map(\.name).joined(separator: ",").escapedForTerminal,
        ]
        guard detail == .full else { return fields }
        fields.append(host?.description ?? "")
        fields.append(port?.description ?? "")
        fields.append(addressTexts.joined(separator: ",").escapedForTerminal)
        fields.append(txt.readable.escapedForTerminal)
        return fields
    }

    /// The addresses, each once, in the order of the endpoints.
    public var addressTexts: [String] { endpoints.map(\.addressText).uniqued() }
}

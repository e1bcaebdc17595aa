import DNSSD

/// Addresses where clouds serve a machine's credentials and metadata. They are never dialled, not even if allowed: no
/// service lives there, and a leaked credential costs more than any service is worth.
enum CredentialAddresses {
    /// By provider: AWS instance metadata, time and DNS, and ECS and EKS credentials; AWS over IPv6; GCP, OCI and
    /// OpenStack over IPv6; Scaleway over both;
    /// Alibaba Cloud; Azure.
    private static let blocks: [CIDR] = [
        "169.254.169.0/24", "169.254.170.0/24", "fd00:ec2::/32", "fd20:ce::254", "fd00:c1::a9fe:a9fe",
        "fe80::a9fe:a9fe", "169.254.42.42", "fd00:42::42", "100.100.100.200",
        "168.63.129.16",
    ].compactMap { try? CIDR($0) }

    static func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address) } }
}

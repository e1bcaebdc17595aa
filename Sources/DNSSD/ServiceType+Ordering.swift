extension ServiceType: Comparable {
    /// By name, then transport, then subtype, without regard to ASCII case.
    public static func < (one: ServiceType, other: ServiceType) -> Bool {
        if !one.name.isSameDNSLabel(as: other.name) { return one.name.precedesAsDNSLabel(other.name) }
        if one.transport != other.transport { return one.transport.rawValue < other.transport.rawValue }
        return (one.subtype ?? "").precedesAsDNSLabel(other.subtype ?? "")
    }
}

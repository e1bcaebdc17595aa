extension ServiceType {
    /// A type as people, programs and files name it: the one validation of all of them.
    /// - Throws: `.invalidServiceType` for what `init(_:)` or `checkedForAvahi()` refuses.
    package init(named text: String) throws(DiscoveryError) {
        self = try ServiceType(text).checkedForAvahi()
    }

    /// Avahi takes no label of one letter after the underscore (avahi-common/domain.c, `avahi_is_valid_service_type_generic`), though RFC
    /// 6335 §5.1 allows it: neither browsing, resolving nor publishing can succeed.
    /// - Throws: `.invalidServiceType`.
    package func checkedForAvahi() throws(DiscoveryError) -> ServiceType {
        for label in [name, subtype].compactMap(\.self) where label.utf8.count <= 2 || !label.hasPrefix("_") {
            throw DiscoveryError(
                .invalidServiceType,
                "\(self): avahi-daemon takes no \"\(label.escapedForTerminal)\": it wants an underscore and two letters or more"
            )
        }
        return self
    }
}

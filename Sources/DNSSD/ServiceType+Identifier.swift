extension ServiceType {
    /// A type made of any identifier, as an application's: `com.example.WiTap 2` gives `_com-example-wit._tcp`.
    ///
    /// Letters become lower case, everything else but digits one hyphen, and what is too long is cut (RFC 6335 §5.1). Nil
    /// when no letter is left.
    public init?(identifier: String, transport: Transport = .tcp) {
        var name = ""
        for byte in identifier.utf8 where name.utf8.count < Self.maximumNameLength {
            if byte.isASCIIAlphanumeric {
                name.unicodeScalars.append(Unicode.Scalar(byte.asciiLowercased))
            } else if !name.isEmpty, !name.hasSuffix("-") {
                name += "-"
            }
        }
        if name.hasSuffix("-") { name.removeLast() }
        guard name.utf8.contains(where: \.isASCIILetter) else { return nil }
        self.init(name: "_" + name, transport: transport, subtype: nil)
    }
}

internal import DiscoveryJSON

/// Where other programs are answered names below `local` now, and where they cannot be: `dns:` and `nss:` of the configuration.
package struct NamesStatus: Hashable, Sendable {
    /// An address with its port, or a path.
    package struct Place: Hashable, Sendable {
        package let name: String
        /// Why nothing is answered there, safe for a terminal; nil where it is.
        package let failure: String?

        package init(_ name: String, failure: String? = nil) { (self.name, self.failure) = (name, failure) }
    }

    package var dns: [Place] = []
    package var nss: [Place] = []

    package init() {}
}

extension JSONWriter {
    /// - Parameter inFull: with why nothing is answered at a place.
    mutating func names(_ status: NamesStatus, inFull: Bool) {
        for (key, places) in [("dns", status.dns), ("nss", status.nss)] {
            array(key, of: places) { array, place in
                array.object { object in
                    object.member("at", place.name)
                    object.member("answers", place.failure == nil)
                    if inFull, let failure = place.failure { object.member("reason", failure) }
                }
            }
        }
    }
}

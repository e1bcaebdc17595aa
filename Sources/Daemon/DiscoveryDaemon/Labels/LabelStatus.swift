internal import DiscoveryJSON

/// What one source of labels comes to now.
package struct LabelStatus: Hashable, Sendable {
    /// A label that is not published.
    package struct Refusal: Hashable, Sendable {
        /// The container's name, or the unit's: any text.
        package let name: String
        /// What is wrong; safe for a terminal.
        package let reason: String

        package init(name: String, reason: String) { (self.name, self.reason) = (name, reason) }
    }

    package let source: LabelSource
    /// Containers or units that run and have labels.
    package let running: Int
    /// What of them is published, or on the way there.
    package let services: Int
    /// Why the source cannot be followed, or not all of it; nil when all is well.
    package let failure: String?
    /// At most 64.
    package let refused: [Refusal]

    package init(source: LabelSource, running: Int, services: Int, failure: String?, refused: [Refusal]) {
        (self.source, self.running, self.services) = (source, running, services)
        (self.failure, self.refused) = (failure, refused)
    }
}

extension JSONWriter {
    /// - Parameter inFull: with names and reasons, which are of those who may know all.
    mutating func labels(_ status: LabelStatus, inFull: Bool) {
        object { object in
            object.member("from", status.source.rawValue)
            object.member("running", status.running)
            object.member("services", status.services)
            object.member("refused", status.refused.count)
            guard inFull else { return }
            if let failure = status.failure { object.member("reason", failure) }
            object.array("refusals", of: status.refused) { array, refusal in
                array.object { object in
                    object.member("name", refusal.name)
                    object.member("reason", refusal.reason)
                }
            }
        }
    }
}

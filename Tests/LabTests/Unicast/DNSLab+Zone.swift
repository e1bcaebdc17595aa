extension DNSLab {
    /// A server with a zone in which the key `pub` may publish anything.
    enum Zone: String, CaseIterable, Sendable {
        case bind, knot, powerdns

        /// A change runs a rule against one server.
        static let allCases = Everything.of([.bind, .knot], inAChange: [Zone.knot])
        static let withPowerDNS = Everything.of([.bind, .knot, .powerdns], inAChange: [Zone.knot])

        var server: Server {
            switch self {
            case .bind: .bind
            case .knot: .knot
            case .powerdns: .powerdns
            }
        }

        var name: String {
            switch self {
            case .bind: "wide.example.org"
            case .knot: "wide-office.example.org"
            case .powerdns: "shop.example.org"
            }
        }

        var address: String {
            switch self {
            case .bind: "10.53.0.53"
            case .knot: "10.53.0.54"
            case .powerdns: "10.53.0.55"
            }
        }

        /// Knot keeps names in lower case.
        func kept(_ text: String) -> String { self == .knot ? text.lowercased() : text }

        /// A name with all that may be in one; PowerDNS answers questions for few characters alone.
        var fullName: String { self == .powerdns ? #"Tony Web. 1 \"# : #"Tony's Büro. 1 "web" \"# }
        /// What comes after a name that is taken.
        func numbered(_ name: String, _ number: Int) -> String {
            self == .powerdns ? "\(name)-\(number)" : "\(name) #\(number)"
        }
    }
}

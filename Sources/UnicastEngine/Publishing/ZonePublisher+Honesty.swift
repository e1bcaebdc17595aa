import DNSMessage
import DNSSD
import Discovery

// Servers that answer NOERROR to what they leave out, and that hold names for which they answer no question. PowerDNS does both: its
// policies (lua-dnsupdate-policy-script) are no answer to an update, and it knows names of a few characters alone.

/// What is known of how the server's answers and its zone fit.
struct ServerHonesty: Sendable {
    /// A service was looked for after the server had said that it is there: it was, with all that it needs.
    var isProven = false
    /// What the server has acknowledged while one of them is looked for, with its version.
    var waiting: [Int: Int] = [:]
    /// A service is looked for.
    var isProving = false
    /// How often in a row something was not there.
    var omissions = 0
    /// How often in a row the lease was not there although the server had just said that it has it.
    var leaseOmissions = 0
    /// It has answered a question for a name of uncommon characters.
    var answersAnyName = false
    /// It fails to answer one, though it answers others.
    var fails = false
}

extension ZonePublisher {
    /// Sends conditions alone, for one service of a message: everything that it needs is there. Services are established when they hold.
    mutating func prove(_ versions: [Int: Int]) {
        guard let number = versions.keys.min(), let item = items[number], let target = hostName else {
            return established(versions)
        }
        for number in versions.keys { items[number]?.isInFlight = true }
        guard !honesty.isProving else { return honesty.waiting.merge(versions) { $1 } }
        honesty.isProving = true
        let names = item.names
        var update = ZoneUpdate()
        update.require(names.instance, .dhcid, id.ownership(of: names.instance))
        for type in [RecordType.srv, .txt] { update.requireExists(names.instance, type) }
        update.requireExists(layout.lease(of: id), .txt)
        for list in [names.list, layout.types, layout.index(id.shard), layout.manifest(names.shard, of: id)] {
            update.requireExists(list, .ptr)
        }
        if host.mayExist {
            for family in Set(host.addresses.map(\.family)) {
                update.requireExists(target, family == .ipv4 ? .a : .aaaa)
            }
        }
        send(.proof(versions), .update(update, subject: "\(names.instance)"))
    }

    mutating func proofReceived(_ proven: [Int: Int], _ reply: ZoneReply, _ now: Duration) {
        let versions = proven.merging(honesty.waiting) { $1 }
        (honesty.waiting, honesty.isProving) = ([:], false)
        for number in versions.keys { items[number]?.isInFlight = false }
        switch reply {
        case .outcome(.notAsRequired):
            // Once it may have been taken back meanwhile.
            honesty.omissions += 1
            lease.isDoubtful = true
            for number in versions.keys { items[number]?.claim = .unclear }
            for number in versions.keys { items[number]?.isUnproven = true }
            guard honesty.omissions > 1 else { return }
            // What is left out again is refused the first time.
            honesty.omissions = 1
            for number in versions.keys {
                retryLater(number, now)
                refuse(number, recordsLeftOut)
            }
        case .outcome(.unheard):
            for number in versions.keys { items[number]?.wasUnheard = true }
        case .outcome(.serverFailed):
            for number in versions.keys {
                items[number]?.claim = .unclear
                retryLater(number, now)
                report(number, .waiting(serverFailure))
            }
        // A server that refuses conditions says nothing of what it has.
        default:
            honesty.isProven = true
            honesty.omissions = 0
            established(versions)
        }
    }

    var recordsLeftOut: DiscoveryError {
        DiscoveryError(
            .notPermitted,
            "the server of \(layout.root) answers that updates are done, and leaves records out: a policy of it, as PowerDNS has them, does not let the key write all that a service needs (see discoverd zone-template powerdns)"
        )
    }

    /// The server was asked for the owner of a name of uncommon characters, before anything is published under it.
    mutating func nameAnswered(_ number: Int, _ reply: ZoneReply, _ now: Duration) {
        items[number]?.isInFlight = false
        switch reply {
        case .records:
            honesty.answersAnyName = true
            honesty.fails = false
        case .outcome(.serverFailed):
            // It may fail for a moment, whatever the name.
            guard honesty.fails || items[number]?.wasUnanswered == true else {
                items[number]?.wasUnanswered = true
                return retryLater(number, now)
            }
            honesty.fails = true
            guard let item = items[number], item.stage == .wanted, let service = item.service else { return }
            // The number alone is what it cannot answer for: `web #2`.
            if item.renames > 0, let name = numbered(service.name, item.renames + 1),
                let names = InstanceNames(service, as: name), names.instance.isCommon
            {
                release(number)
                items[number]?.name = name
                items[number]?.names = names
                return report(number, .registering)
            }
            retryLater(number, now)
            refuse(
                number,
                DiscoveryError(
                    .misconfigured,
                    "the server of \(layout.root) cannot answer questions for \(item.name) (SERVFAIL), so that nobody would find it: PowerDNS knows names of letters, digits, spaces and - _ . : / @ * \\ alone"
                ))
        case .outcome(.refused(let error)):
            retryLater(number, now)
            refuse(number, error)
        case .outcome: break
        }
    }

    /// The name after a conflict.
    func nextName(_ item: PublishedItem, _ service: OfferedService) -> ServiceName? {
        honesty.fails ? numbered(service.name, item.renames + 2) : item.name.nextAfterCollision()
    }

    /// `web-2`, as hosts are numbered.
    private func numbered(_ name: ServiceName, _ number: Int) -> ServiceName? {
        let suffix = "-\(number)"
        var base = name.text
        while base.utf8.count + suffix.utf8.count > ServiceName.maximumLength { base.removeLast() }
        return try? ServiceName(base + suffix)
    }
}

extension DomainName {
    /// Whether every server answers questions for it: others than these bytes PowerDNS calls malformed.
    var isCommon: Bool {
        labels.allSatisfy { label in
            label.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: " -_.:/@*\\".utf8.contains(byte)
                }
            }
        }
    }
}

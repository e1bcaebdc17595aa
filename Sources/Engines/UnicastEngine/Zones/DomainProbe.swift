import DNSMessage
import DNSSD
import DiscoverySystem

/// Examines a domain without changing anything, for `doctor`.
package struct DomainProbe: Sendable {
    /// The judgement of a finding.
    package enum Verdict: Hashable, Sendable { case ok, warn, fail }

    /// One result of the examination.
    package struct Finding: Hashable, Sendable {
        /// The judgement.
        package var verdict: Verdict
        /// A sentence, safe for a terminal.
        package var text: String
    }

    private let settings: DomainSettings
    private let exchange: any DNSExchange
    /// How long lists are looked through.
    private let patience: Duration

    /// The most types whose lists are counted.
    private static let mostTypes = 32
    /// The number of services from which a list is nearly full: 90 % of what BIND accepts as a server and as a
    /// resolver.
    private static let nearlyFull = 90

    package init(
        _ settings: DomainSettings, exchange: any DNSExchange = DNSClient(), patience: Duration = .seconds(10)
    ) {
        self.settings = settings
        self.exchange = exchange
        self.patience = patience
    }

    /// Asks the domain's server, and returns the findings in order.
    package func run() async -> [Finding] {
        let place: ZoneLocation
        do throws(DiscoveryError) {
            place = try await ZoneFinder(exchange: exchange).zone(of: settings.domain, server: settings.server)
        } catch {
            return [Finding(verdict: .fail, text: "\(settings.domain): \(error.message)")]
        }
        let (zone, server) = (place.zone, place.server)
        var findings = [
            Finding(verdict: .ok, text: "\(settings.domain): the server \(server) answers for the zone \(zone)")
        ]
        if let finding = await rights(zone, server) { findings.append(finding) }
        return findings + (await withTimeLimit(patience) { [self] in await lists(server) })
    }

    /// Deletes records that do not exist: the server checks key, clock and rights, and nothing changes.
    private func rights(_ zone: DomainName, _ server: ServerAddress) async -> Finding? {
        guard let key = settings.key else {
            return Finding(verdict: .warn, text: "\(settings.domain): no key; services are found there, not published")
        }
        guard let service = DomainName(["doctor", "_discoverd", "_tcp"], in: settings.domain),
            let lease = DomainName(["doctor", "_discoverd"], in: settings.domain)
        else { return nil }
        let update = Message.update(
            zone: zone, changes: [.deleting(service, .srv), .deleting(lease, .txt)])
        let answer: UpdateAnswer
        do throws(DNSFailure) {
            answer = try await exchange.update(update, at: server, key: key)
        } catch {
            return Finding(verdict: .fail, text: "\(settings.domain): \(server) does not answer an update")
        }
        if let reason = Self.refusal(answer, key.name, server) {
            return Finding(verdict: .fail, text: "\(settings.domain): \(reason)")
        }
        return Finding(verdict: .ok, text: "\(settings.domain): the key \(key.name) may publish, and the clocks agree")
    }

    /// Returns why an answer shows that publishing will fail; nil if it will not.
    private static func refusal(_ answer: UpdateAnswer, _ key: DomainName, _ server: ServerAddress) -> String? {
        switch (answer.signatureError, answer.responseCode) {
        case (16, _): "\(server) has another secret for the key \(key)"
        case (17, _): "\(server) does not know the key \(key), or does not let it write services and leases"
        case (18, _): "the clocks of this machine and of \(server) differ by more than five minutes"
        case (_, 4): "\(server) takes no updates: it is a resolver"
        case (_, 5): "the key \(key) may not write services below _tcp and leases below _discoverd, says \(server)"
        case (_, 9), (_, 10): "\(server) does not serve the zone"
        case (_, 0): answer.isTrusted ? nil : "\(server) answers without a valid signature"
        case (_, let code): "\(server) fails at an update: \(ResponseCode.name(of: code))"
        }
    }

    /// Looks for lists that are nearly full, and for addresses that the resolver withholds.
    private func lists(_ server: ServerAddress) async -> [Finding] {
        guard let types = DomainName(["_services", "_dns-sd", "_udp"], in: settings.domain) else { return [] }
        var findings: [Finding] = []
        var isFiltered: Bool?
        for type in await pointers(of: types, at: server).prefix(Self.mostTypes) {
            let services = await pointers(of: type, at: server)
            if services.count >= Self.nearlyFull {
                findings.append(
                    Finding(
                        verdict: .warn,
                        text:
                            "\(settings.domain): \(services.count) services in \(type), and BIND takes 100: use sub-domains"
                    ))
            }
            if isFiltered == nil, let first = services.first { isFiltered = await withholds(first, server) }
        }
        if isFiltered == true {
            findings.append(
                Finding(
                    verdict: .fail,
                    text:
                        "\(settings.domain): this host's resolver withholds addresses that \(server) gives (rebinding "
                        + "protection): except the domain there, as rebind-domain-ok of dnsmasq or private-domain of Unbound"
                ))
        }
        // What is asked after the time limit has no answer, as if the list were empty.
        if Task.isCancelled {
            findings.append(
                Finding(
                    verdict: .warn,
                    text: "\(settings.domain): not all lists were looked through within \(patience)"))
        }
        return findings
    }

    /// Returns whether the resolver withholds the addresses of a service's host: it answers, and says that there are none. One that fails or does not
    /// know the zone withholds nothing.
    /// - Returns: nil if the host has no address.
    private func withholds(_ service: DomainName, _ server: ServerAddress) async -> Bool? {
        // Where a server is named it is asked itself, and the resolver need not know the zone.
        guard settings.server == nil else { return false }
        guard case .srv(_, _, _, let host)? = await records(service, .srv, at: .server(server)).first else {
            return nil
        }
        for type in [RecordType.a, .aaaa] where !(await records(host, type, at: .server(server))).isEmpty {
            guard let message = try? await exchange.ask(Question(host, type), of: .resolver).message,
                message.responseCode == ResponseCode.noError
            else { return false }
            return !message.answers.contains { $0.type == type }
        }
        return nil
    }

    private func pointers(of name: DomainName, at server: ServerAddress) async -> [DomainName] {
        await records(name, .ptr, at: .server(server)).compactMap { data in
            if case .ptr(let target) = data { target } else { nil }
        }
    }

    private func records(_ name: DomainName, _ type: RecordType, at target: DNSTarget) async -> [RecordData] {
        let answer = try? await exchange.ask(Question(name, type), of: target)
        return (answer?.message.answers ?? []).filter { $0.type == type }.map(\.data)
    }
}

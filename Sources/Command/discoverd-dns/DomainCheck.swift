#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryDaemon
internal import DiscoverdCommands
internal import UnicastEngine

/// Whether services of a domain can be found and published from here.
enum DomainCheck {
    static func run(_ named: [Domain]) async -> [CheckResult] {
        let definitions = ConfiguredDomains.definitions(ProgramNotices(program: "discoverd"))
        var findings: [CheckResult] = []
        for definition in definitions {
            let domain = definition.settings.domain
            do throws(DiscoveryError) {
                findings += await probe(try definition.withKey())
            } catch {
                findings.append(
                    CheckResult(
                        "domain", .fail, "\(domain): \(error.message)", advice: "\(definition.place) names the file."))
            }
        }
        for domain in named where !definitions.contains(where: { domain.isWithin($0.settings.domain) }) {
            findings += await probe(DomainSettings(domain))
        }
        return findings
    }

    private static func probe(_ settings: DomainSettings) async -> [CheckResult] {
        await DomainProbe(settings).run().map { finding in
            let verdict: CheckResult.Verdict =
                switch finding.verdict {
                case .ok: .ok
                case .warn: .warn
                case .fail: .fail
                }
            return CheckResult("domain", verdict, finding.text)
        }
    }
}
#endif

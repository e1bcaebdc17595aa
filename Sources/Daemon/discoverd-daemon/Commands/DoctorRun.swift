#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import DiscoverdCommands
import DiscoveryControl
internal import DiscoveryDaemon
import DiscoverySystem
import Libc
internal import UnicastEngine

/// `discoverd doctor --json` as a process: it looks at the machine as a command does, without a daemon.
enum DoctorRun {
    private static let limit = Duration.seconds(30)
    private static let mostBytes = 1024 * 1024

    /// What it prints.
    /// - Throws: 503 if it cannot be run or does not end.
    static func lines() async throws(ControlError) -> [UInt8] {
        do {
            return try await BlockingThread.value { try run() }
        } catch {
            throw ControlError(503, "no-doctor", "'discoverd doctor' cannot be run: \(error)")
        }
    }

    /// - Parameter command: a program and its arguments.
    static func run(
        _ command: [String] = ["/proc/self/exe", "doctor", "--json", "--quiet"]
    ) throws -> [UInt8] {
        let (ours, theirs) = try SecuredSocket.pair()
        let child: Int32
        let connection: UnixConnection
        do {
            defer { close(theirs) }
            connection = try UnixConnection(connected: ours) { nil }
            child = try Program.start(command.map { Array($0.utf8) }, .connection(theirs), hasOwnGroup: true)
        }
        let bytes = try? read(connection)
        // What has closed its output may go on all the same. Not waited for yet, so the number cannot be another's.
        kill(-child, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) == -1, errno == EINTR {}
        guard let bytes else { throw SystemError(ETIMEDOUT) }
        return bytes
    }

    /// Reads to the end, for a limited time and size.
    private static func read(_ connection: UnixConnection) throws(DiscoveryError) -> [UInt8]? {
        var bytes: [UInt8] = []
        let deadline = Deadline(in: limit)
        while bytes.count < mostBytes {
            switch try connection.receive(until: deadline, bell: nil) {
            case .bytes(let more): bytes += more
            case .ended: return bytes
            case .timedOut, .rung: return nil
            }
        }
        return nil
    }
}

/// Whether services of a domain can be found and published from here.
enum DomainCheck {
    static func run(_ named: [Domain]) async -> [DoctorFinding] {
        let definitions = ConfiguredDomains.definitions(ProgramNotices(program: "discoverd"))
        var findings: [DoctorFinding] = []
        for definition in definitions {
            let domain = definition.settings.domain
            do throws(DiscoveryError) {
                findings += await probe(try definition.withKey())
            } catch {
                findings.append(
                    DoctorFinding(
                        "domain", .fail, "\(domain): \(error.message)", advice: "\(definition.place) names the file."))
            }
        }
        for domain in named where !definitions.contains(where: { domain.isWithin($0.settings.domain) }) {
            findings += await probe(DomainSettings(domain))
        }
        return findings
    }

    private static func probe(_ settings: DomainSettings) async -> [DoctorFinding] {
        await DomainProbe(settings).run().map { finding in
            let verdict: DoctorFinding.Verdict =
                switch finding.verdict {
                case .ok: .ok
                case .warn: .warn
                case .fail: .fail
                }
            return DoctorFinding("domain", verdict, finding.text)
        }
    }
}

/// Asks DNS servers for records of any type.
struct DomainLookup {
    private let client = DNSClient()
    private let settings: [DomainSettings]
    /// The server that was named, for all names.
    private let server: ServerName?

    init(_ wish: DomainWish, _ notices: ProgramNotices) throws {
        server = try wish.server.map { try ServerName($0) }
        settings = try ConfiguredDomains.settings(for: wish, ConfiguredDomains.definitions(notices), notices)
    }

    /// The most questions under way: each has a socket.
    private static let mostAtATime = 64

    /// What the server of each name answers; nothing where there is no such name. Questions are asked side by side: one to which nobody answers takes
    /// nothing from the others, also where the host's resolver is silent about one name alone.
    func records(_ questions: [Question]) async -> ServerAnswers {
        await withTaskGroup(of: ServerAnswers.self) { group in
            var all = ServerAnswers()
            for (position, question) in questions.enumerated() {
                if position >= Self.mostAtATime, let answers = await group.next() { all.add(answers) }
                group.addTask { await records(question) }
            }
            for await answers in group { all.add(answers) }
            return all
        }
    }

    private func records(_ question: Question) async -> ServerAnswers {
        var answers = ServerAnswers()
        do throws(DNSFailure) {
            let answer = try await client.ask(question, of: try await target(of: question))
            switch answer.message.responseCode {
            case ResponseCode.noError, ResponseCode.noSuchName: answers.records += answer.message.answers
            case let code:
                let failure = "\(answer.server) says \(ResponseCode.name(of: code)) to \(question.name)"
                answers.failures[question.name] = DNSFailure.silent(failure).asDiscoveryError
            }
        } catch {
            let failure = Task.isCancelled ? DNSFailure.silent("no DNS server answered in time") : error
            answers.failures[question.name] = failure.asDiscoveryError
        }
        return answers
    }

    private func target(of question: Question) async throws(DNSFailure) -> DNSTarget {
        guard let server = server ?? settings.covering(question.name)?.server else { return .resolver }
        let addresses = try await client.addresses(of: server)
        guard !addresses.isEmpty else { throw .impossible("the server \(server) has no address") }
        return .servers(addresses)
    }
}
#endif

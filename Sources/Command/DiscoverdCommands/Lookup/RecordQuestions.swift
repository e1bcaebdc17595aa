#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import MulticastEngine
internal import DiscoverySystem

/// Questions for records, and who is asked: the links, or DNS servers.
struct RecordQuestions {
    /// A record, and the link that it is of.
    struct Answer {
        let record: ResourceRecord
        let interface: NetworkInterface?
        /// Nil where it is not known: only answers with a shortened one came.
        let ttl: UInt32?
    }

    let session: Session
    let place: NetworkOptions
    let limit: Duration
    private var wish: DomainWish { session.invocation.needs.domains }
    /// The records' own TTLs are wanted.
    var wantsTTL = false

    /// Returns the answers of the links and, for names of other domains, of DNS servers; none where nothing answered in time.
    func ask(_ questions: [Question]) async throws -> [Answer] {
        let isOfLink = { (question: Question) in question.name.isAskedOnLink && wish.server == nil }
        let (ofLink, others) = (questions.filter(isOfLink), questions.filter { !isOfLink($0) })
        let heard = ofLink.isEmpty ? [] : try await askLinks(ofLink)
        let told = others.isEmpty ? [] : try await askServers(others)
        return heard + told
    }

    private func askLinks(_ questions: [Question]) async throws -> [Answer] {
        let (interfaces, family, limit, wantsTTL) = (try place.interfaces(), place.family, limit, wantsTTL)
        let isOver = Locked(false)
        let found: [RecordLookup.Found]? = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                do throws(CommandError) {
                    try BlockingThread.start {
                        let inquiry = LinkInquiry(on: interfaces, over: family, asQuery: true)
                        guard !inquiry.links.isEmpty else { return continuation.resume(returning: nil) }
                        var lookup = RecordLookup(questions, wantsTTL: wantsTTL && !inquiry.hearing.isEmpty)
                        inquiry.run(&lookup, within: limit) { isOver.withLock { $0 } }
                        continuation.resume(returning: lookup.found)
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            isOver.withLock { $0 = true }
        }
        guard let found else {
            guard interfaces == .all else {
                throw CommandError(.notFound, "no interface that is up is meant by --interface")
            }
            throw CommandError(.noBackend, "there is no link to ask: no interface that is up has an address")
        }
        return found.map { Answer(record: $0.record, interface: $0.interface, ttl: $0.ttl) }
    }

    private func askServers(_ questions: [Question]) async throws -> [Answer] {
        guard let servers = session.more else { throw CommandError(.noBackend, "DNS servers cannot be asked") }
        let (wish, notices) = (wish, session.notices)
        // A server that is silent is given up before a caller's time is over.
        let outcome: Result<[ResourceRecord], any Error> = await withTimeLimit(limit) {
            do {
                return .success(try await servers.records(questions, of: wish, notices))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get().map { Answer(record: $0, interface: nil, ttl: $0.ttl) }
    }
}
#endif

package import DNSMessage
internal import DiscoverySystem

/// Where programs of this machine ask for records of the links; there is one for an engine. Requests and answers go in batches.
package final class RecordDesk: Sendable {
    /// A request on its way.
    package struct Asked: Sendable {
        let request: RecordRequest
        let wanted: RecordType
        package let ticket: UInt64
        let asker: DeskAsker

        /// - Parameters:
        ///   - request: what is asked for.
        ///   - wanted: the type that is waited for, one of the request's.
        ///   - ticket: comes back with the answer.
        ///   - asker: on whose account.
        package init(_ request: RecordRequest, wanted: RecordType, ticket: UInt64, by asker: DeskAsker) {
            (self.request, self.wanted, self.ticket, self.asker) = (request, wanted, ticket, asker)
        }
    }

    private let post: @Sendable (@escaping @Sendable (QuerierCore) -> Void) -> Void

    init(post: @escaping @Sendable (@escaping @Sendable (QuerierCore) -> Void) -> Void) { self.post = post }

    /// Asks; each request is answered once, within a second.
    package func ask(_ asked: [Asked]) { post { $0.ask(asked) } }

    /// Answers nothing any more, and lets the links close.
    package func close() { post { $0.closeDesk() } }
}

extension QuerierCore {
    func openDesk(id: UInt64, _ report: @escaping @Sendable ([(ticket: UInt64, answer: DeskAnswer)]) -> Void) {
        guard desk == nil else { return }
        let operation = DeskOperation(report: report)
        desk = (id, operation)
        start(operation, id: id)
    }

    func closeDesk() {
        guard let id = desk?.id else { return }
        desk = nil
        end(id: id)
    }

    func ask(_ asked: [RecordDesk.Asked]) {
        guard let operation = desk?.operation else { return }
        if operation.ask(asked, at: BootTime.now) { touched(operation) } else { operation.flush() }
    }
}

#if Commands
internal import CommandFrame
internal import PeerIdentity
internal import DiscoverySystem

/// One attempt to pair over a connection that has just been made.
struct PairingTalk: Sendable {
    /// How an attempt ended.
    enum End: Sendable {
        case paired
        /// A person, or what is known, decided against it: no further attempt.
        case refused(CommandError)
        /// It came to nothing, and no person had decided.
        case failed(CommandError)
    }

    let tls: any MoreSupport
    let role: PairingExchange.Role
    let report: PairingReport

    /// How long the other side may take to end, once all is said.
    private static let farewell = Duration.seconds(3)

    func run(_ socket: Socket, _ turns: PairingTurns = .only) async -> End {
        let link: SecuredConnection
        do throws(CommandError) {
            let wish = TLSWish(trust: .strangers, asks: false)
            link = try await tls.secure(
                socket.handOver(), as: role == .caller ? .meeting : .answering, wish, report.notices)
        } catch {
            return beforeCode(error)
        }
        // Closed with its last reference, for a thread reads it.
        let inner = Socket(owning: link.descriptor)
        let end = await converse(inner, link, turns)
        // What was said last must arrive.
        inner.endSending()
        let failure = await failure(of: link)
        inner.end()
        // The other side let this one not in, which with TLS 1.3 it says after the handshake.
        if case .failed = end, let failure, failure.status == .notPermitted { return beforeCode(failure) }
        return end
    }

    private func converse(_ socket: Socket, _ link: SecuredConnection, _ turns: PairingTurns) async -> End {
        var conversation: PairingConversation
        do {
            let peer = try await PairingPeer(link, tls.hmac)
            conversation = PairingConversation(
                try tls.pairing(role, with: link.key), role, with: peer, over: socket, report, turns)
        } catch let error as CommandError {
            return beforeCode(error)
        } catch {
            return .failed(CommandError(.systemError, "\(error)"))
        }
        do {
            return try await conversation.run()
        } catch let error as CommandError {
            return error.status == .notPermitted ? .refused(error) : .failed(error)
        } catch {
            return .failed(CommandError(.systemError, "\(error)"))
        }
    }

    /// What ends an attempt without a person. A machine that waits goes on: anyone can dial it, and say anything before a code.
    private func beforeCode(_ error: CommandError) -> End {
        role == .caller && error.status == .notPermitted ? .refused(error) : .failed(error)
    }

    /// Why the connection ended; waits a little for its end.
    private func failure(of link: SecuredConnection) async -> CommandError? {
        let isOver = Gate()
        let failure = Locked<CommandError?>(nil)
        Task {
            let reason = await link.end()
            failure.withLock { $0 = reason }
            isOver.open()
        }
        await isOver.wait(atMost: Self.farewell)
        return failure.withLock { $0 }
    }
}
#endif

extension PeerTable {
    /// Who uses the session wants a connection.
    package mutating func wanted(_ id: PeerID) -> [Action] {
        guard let entry = entries[id] else {
            return [.answer(id, SessionError(.noSuchPeer, "there is no peer \(id)"))]
        }
        entries[id]?.isWanted = true
        switch entry.relation {
        case .connected: return answer(id, nil)
        case .invited: return accepted(id)
        case .dialling, .greeted, .expecting, .welcomed: return []
        case .none:
            return dial(id) ?? answer(id, SessionError(.noSuchPeer, "\(entry.peer) offers nothing to connect to"))
        }
    }

    /// The connection that we dialled is there.
    package mutating func dialled(_ id: PeerID, attempt: Int, _ link: LinkID) -> [Action] {
        guard entries[id]?.relation == .dialling(attempt: attempt) else { return [.close(link)] }
        set(.greeted(link), for: id)
        return [.greet(link)]
    }

    /// The connection could not be made.
    package mutating func failed(_ id: PeerID, attempt: Int, _ error: SessionError) -> [Action] {
        entries[id]?.relation == .dialling(attempt: attempt) ? failed(id, error) : []
    }

    /// Nothing comes of it, or not in time.
    package mutating func failed(_ id: PeerID, _ error: SessionError) -> [Action] {
        switch entries[id]?.relation {
        case .dialling, .expecting: return answer(id, error) + fallBack(id)
        case .greeted(let link), .welcomed(let link): return [.close(link)] + answer(id, error) + fallBack(id)
        default: return []
        }
    }

    /// A connection that came said hello.
    package mutating func greeted(_ link: LinkID, by greeting: Greeting) -> [Action] {
        let id = greeting.id
        guard id != own else { return [.refuse(link, .declined)] }
        // One that was here before this session began, and is remembered by caches.
        if let to = greeting.to, to != own { return [.refuse(link, .another)] }
        if entries[id] == nil {
            entries[id] = Entry(peer: Peer(id: id, displayName: greeting.name, state: .unavailable))
        }
        switch entries[id]?.relation ?? .none {
        case .none: return invite(id, link)
        case .dialling, .expecting: return welcome(id, link)
        case .greeted(let mine):
            // Ours stays when our id is the smaller one: it will be welcomed, because both want it.
            if own < id { return [.refuse(link, .duplicate)] }
            return welcome(id, link) + [.close(mine)]
        case .invited(let earlier): return [.refuse(earlier, .duplicate)] + invite(id, link)
        // It has given up the earlier one.
        case .welcomed(let earlier): return welcome(id, link) + [.close(earlier)]
        // Not even when the old one is dead: that is known soon, and nobody may take over a connection.
        case .connected: return [.refuse(link, .duplicate)]
        }
    }

    /// The peer that we greeted said yes.
    package mutating func welcomed(_ link: LinkID, by greeting: Greeting) -> [Action] {
        guard let id = peerID(on: link), entries[id]?.relation == .greeted(link) else { return [.close(link)] }
        guard id == greeting.id else {
            let error = SessionError(.malformed, "another peer answered, \(greeting.id)")
            return [.close(link)] + answer(id, error) + fallBack(id)
        }
        return connect(id, link)
    }

    /// A peer said something that is neither a greeting nor the end of it.
    package mutating func heard(_ link: LinkID) -> [Action] {
        guard let id = peerID(on: link), entries[id]?.relation == .welcomed(link) else { return [] }
        return connect(id, link)
    }

    /// The peer that we greeted said no.
    package mutating func refused(_ link: LinkID, _ refusal: Frame.Refusal) -> [Action] {
        guard let id = peerID(on: link), let peer = entries[id]?.peer, entries[id]?.relation == .greeted(link) else {
            return [.close(link)]
        }
        switch refusal {
        case .duplicate:
            let attempt = nextAttempt()
            set(.expecting(attempt: attempt), for: id)
            return [.close(link), .expect(id, attempt: attempt)]
        case .declined, .busy:
            let reason = refusal == .busy ? "is busy" : "declined"
            return [.close(link)] + answer(id, SessionError(.declined, "\(peer) \(reason)")) + fallBack(id)
        case .another:
            // What the browser says of it is old; who is there now has an id that is found yet.
            entries[id]?.service = nil
            let error = SessionError(.unreachable, "\(peer) is not there any more")
            return [.close(link)] + answer(id, error) + fallBack(id)
        }
    }

    /// The hello that was expected did not come: what the peer took for another connection is over by now.
    package mutating func expectedInVain(_ id: PeerID, attempt: Int) -> [Action] {
        guard entries[id]?.relation == .expecting(attempt: attempt) else { return [] }
        return dial(id) ?? []
    }

    /// Who uses the session says yes to an invitation.
    package mutating func accepted(_ id: PeerID) -> [Action] {
        guard case .invited(let link) = entries[id]?.relation else { return [] }
        return welcome(id, link)
    }

    /// Who uses the session says no to an invitation, or nothing for too long.
    package mutating func declined(_ id: PeerID) -> [Action] {
        guard case .invited(let link) = entries[id]?.relation else { return [] }
        return [.refuse(link, .declined)] + fallBack(id)
    }

    /// Who uses the session wants no connection any more.
    package mutating func unwanted(_ id: PeerID) -> [Action] {
        guard let entry = entries[id] else { return [] }
        switch entry.relation {
        case .none: return []
        case .invited: return declined(id)
        case .connected(let link): return [.close(link)] + become(.disconnected, id) + fallBack(id)
        case .dialling, .greeted, .expecting, .welcomed:
            return failed(id, SessionError(.ended, "not wanted any more"))
        }
    }

    /// A connection ended.
    /// - Parameter didVanish: the peer fell silent, so that what the browser still says of it means nothing.
    package mutating func ended(_ link: LinkID, didVanish: Bool) -> [Action] {
        guard let id = peerID(on: link), let entry = entries[id] else { return [] }
        switch entry.relation {
        case .connected:
            let actions = become(.disconnected, id)
            guard didVanish, entry.service != nil else { return actions + fallBack(id) }
            set(.none, for: id)
            return actions
        case .welcomed:
            // Its hello was an old one. Who is wanted is dialled now.
            if entry.isWanted, let actions = dial(id) { return actions }
            return closed(entry)
        case .greeted: return closed(entry)
        case .invited: return fallBack(id)
        case .none, .dialling, .expecting: return []
        }
    }

    private mutating func closed(_ entry: Entry) -> [Action] {
        let error = SessionError(.unreachable, "\(entry.peer) closed the connection")
        return answer(entry.peer.id, error) + fallBack(entry.peer.id)
    }

    /// Nil when it offers nothing to connect to.
    private mutating func dial(_ id: PeerID) -> [Action]? {
        guard let service = entries[id]?.service else { return nil }
        let attempt = nextAttempt()
        set(.dialling(attempt: attempt), for: id)
        return become(.connecting, id) + [.dial(id, service, attempt: attempt)]
    }

    private mutating func invite(_ id: PeerID, _ link: LinkID) -> [Action] {
        set(.invited(link), for: id)
        let actions = become(.connecting, id)
        return entries[id].map { actions + [.tell(.invited($0.peer))] } ?? actions
    }

    private mutating func welcome(_ id: PeerID, _ link: LinkID) -> [Action] {
        set(.welcomed(link), for: id)
        return [.welcome(link)] + become(.connecting, id)
    }

    private mutating func connect(_ id: PeerID, _ link: LinkID) -> [Action] {
        set(.connected(link), for: id)
        return become(.connected, id) + answer(id, nil)
    }
}

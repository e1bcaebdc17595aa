extension PeerTable {
    /// The user wants a connection.
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

    /// A dialled connection is established.
    package mutating func dialled(_ id: PeerID, attempt: Int, _ link: LinkID) -> [Action] {
        guard entries[id]?.relation == .dialling(attempt: attempt) else { return [.close(link)] }
        set(.greeted(link), for: id)
        return [.greet(link)]
    }

    /// A connection could not be made.
    package mutating func failed(_ id: PeerID, attempt: Int, _ error: SessionError) -> [Action] {
        entries[id]?.relation == .dialling(attempt: attempt) ? failed(id, error) : []
    }

    /// The attempt failed, or took too long.
    package mutating func failed(_ id: PeerID, _ error: SessionError) -> [Action] {
        switch entries[id]?.relation {
        case .dialling, .expecting: return answer(id, error) + fallBack(id)
        case .greeted(let link), .welcomed(let link): return [.close(link)] + answer(id, error) + fallBack(id)
        default: return []
        }
    }

    /// An incoming connection said hello.
    package mutating func greeted(_ link: LinkID, by greeting: Greeting, _ claim: Claim = .proven) -> [Action] {
        let id = greeting.id
        // A peer with another's id or name is not that other.
        if claim == .refuted { return [.refuse(link, .declined)] }
        guard id != own else { return [.refuse(link, .declined)] }
        // The hello is meant for an earlier session, which caches still remember.
        if let to = greeting.to, to != own { return [.refuse(link, .another)] }
        if entries[id] == nil {
            entries[id] = Entry(peer: Peer(id: id, displayName: greeting.name, state: .unavailable))
        }
        switch entries[id]?.relation ?? .none {
        case .none: return invite(id, link)
        // Only the dialled connection will tell whether it is the peer that is wanted.
        case .dialling where claim == .open: return [.refuse(link, .duplicate)]
        case .dialling, .expecting: return welcome(id, link)
        case .greeted(let mine):
            // If our id is smaller, our connection stays: it will be welcomed, because both sides want it.
            if own < id { return [.refuse(link, .duplicate)] }
            return welcome(id, link) + [.close(mine)]
        case .invited(let earlier): return [.refuse(earlier, .duplicate)] + invite(id, link)
        // It has given up the earlier connection.
        case .welcomed(let earlier): return welcome(id, link) + [.close(earlier)]
        // Not even if the old one is dead: that is noticed soon, and no one may take over a connection.
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

    /// A peer sent something other than a greeting or a goodbye.
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
        case .plain:
            return [.close(link)] + answer(id, SessionError(.notTrusted, "\(peer) speaks TLS only")) + fallBack(id)
        case .another:
            // The browser's knowledge of it is stale; the new session has an id that is yet to be found.
            entries[id]?.service = nil
            let error = SessionError(.unreachable, "\(peer) is not there any more")
            return [.close(link)] + answer(id, error) + fallBack(id)
        }
    }

    /// The expected hello did not come: whatever the peer took for another connection is over by now.
    package mutating func expectedInVain(_ id: PeerID, attempt: Int) -> [Action] {
        guard entries[id]?.relation == .expecting(attempt: attempt) else { return [] }
        return dial(id) ?? []
    }

    /// The user accepts an invitation.
    package mutating func accepted(_ id: PeerID) -> [Action] {
        guard case .invited(let link) = entries[id]?.relation else { return [] }
        return welcome(id, link)
    }

    /// The user declines an invitation, or leaves it unanswered for too long.
    package mutating func declined(_ id: PeerID) -> [Action] {
        guard case .invited(let link) = entries[id]?.relation else { return [] }
        return [.refuse(link, .declined)] + fallBack(id)
    }

    /// The user no longer wants a connection.
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
    /// - Parameter didVanish: the peer fell silent, so the browser's knowledge of it is worthless.
    package mutating func ended(_ link: LinkID, didVanish: Bool) -> [Action] {
        guard let id = peerID(on: link), let entry = entries[id] else { return [] }
        switch entry.relation {
        case .connected:
            let actions = become(.disconnected, id)
            guard didVanish, entry.service != nil else { return actions + fallBack(id) }
            set(.none, for: id)
            return actions
        case .welcomed:
            // Its hello was an old one. Dial the peer now if it is wanted.
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

    /// Nil if the peer offers nothing to connect to.
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

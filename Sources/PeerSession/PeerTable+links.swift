extension PeerTable {
    /// Who uses the session wants a connection.
    package mutating func wanted(_ id: PeerID) -> [Action] {
        guard let entry = entries[id] else {
            return [.answer(id, SessionError(.noSuchPeer, "there is no peer \(id)"))]
        }
        switch entry.relation {
        case .connected: return [.answer(id, nil)]
        case .invited: return accepted(id)
        case .dialling, .greeted, .expecting: return []
        case .none:
            guard let service = entry.service else {
                return [.answer(id, SessionError(.noSuchPeer, "\(entry.peer) offers nothing to connect to"))]
            }
            set(.dialling, for: id)
            return become(.connecting, id) + [.dial(id, service)]
        }
    }

    /// The connection that we dialled is there.
    package mutating func dialled(_ id: PeerID, _ link: LinkID) -> [Action] {
        guard entries[id]?.relation == .dialling else { return [.close(link)] }
        set(.greeted(link), for: id)
        return [.greet(link)]
    }

    /// The connection could not be made, or not in time.
    package mutating func failed(_ id: PeerID, _ error: SessionError) -> [Action] {
        switch entries[id]?.relation {
        case .dialling: return [.cancelDial(id), .answer(id, error)] + fallBack(id)
        case .greeted(let link): return [.close(link), .answer(id, error)] + fallBack(id)
        case .expecting: return [.answer(id, error)] + fallBack(id)
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
        case .dialling: return [.cancelDial(id)] + connect(id, link)
        case .expecting: return connect(id, link)
        case .greeted(let mine):
            // Ours stays when our id is the smaller one: it will be welcomed, because both want it.
            if own < id { return [.refuse(link, .duplicate)] }
            return connect(id, link) + [.close(mine)]
        case .invited(let earlier): return [.refuse(earlier, .duplicate)] + invite(id, link)
        // Not even when the old one is dead: that is known soon, and nobody may take over a connection.
        case .connected: return [.refuse(link, .duplicate)]
        }
    }

    /// The peer that we greeted said yes.
    package mutating func welcomed(_ link: LinkID, by greeting: Greeting) -> [Action] {
        guard let id = peerID(on: link), entries[id]?.relation == .greeted(link) else { return [.close(link)] }
        guard id == greeting.id else {
            let error = SessionError(.malformed, "another peer answered, \(greeting.id)")
            return [.close(link), .answer(id, error)] + fallBack(id)
        }
        set(.connected(link), for: id)
        return become(.connected, id) + [.answer(id, nil)]
    }

    /// The peer that we greeted said no.
    package mutating func refused(_ link: LinkID, _ refusal: Frame.Refusal) -> [Action] {
        guard let id = peerID(on: link), let peer = entries[id]?.peer, entries[id]?.relation == .greeted(link) else {
            return [.close(link)]
        }
        switch refusal {
        case .duplicate:
            set(.expecting, for: id)
            return [.close(link)]
        case .declined, .busy:
            let reason = refusal == .busy ? "is busy" : "declined"
            return [.close(link), .answer(id, SessionError(.declined, "\(peer) \(reason)"))] + fallBack(id)
        case .another:
            // What the browser says of it is old; who is there now has an id that is found yet.
            entries[id]?.service = nil
            let error = SessionError(.unreachable, "\(peer) is not there any more")
            return [.close(link), .answer(id, error)] + fallBack(id)
        }
    }

    /// Who uses the session says yes to an invitation.
    package mutating func accepted(_ id: PeerID) -> [Action] {
        guard case .invited(let link) = entries[id]?.relation else { return [] }
        return connect(id, link)
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
        case .dialling, .greeted, .expecting: return failed(id, SessionError(.ended, "not wanted any more"))
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
        case .greeted:
            return [.answer(id, SessionError(.unreachable, "\(entry.peer) closed the connection"))] + fallBack(id)
        case .invited: return fallBack(id)
        case .none, .dialling, .expecting: return []
        }
    }

    private mutating func invite(_ id: PeerID, _ link: LinkID) -> [Action] {
        set(.invited(link), for: id)
        let actions = become(.connecting, id)
        return entries[id].map { actions + [.tell(.invited($0.peer))] } ?? actions
    }

    private mutating func connect(_ id: PeerID, _ link: LinkID) -> [Action] {
        set(.connected(link), for: id)
        return [.welcome(link)] + become(.connected, id) + [.answer(id, nil)]
    }
}

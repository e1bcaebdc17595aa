internal import NIOCore

/// What is unreliable: over UDP where that is known to arrive, else over the connection.
extension PeerSession {
    /// Never waits.
    func sendUnreliably(_ message: [UInt8], on number: PeerTable.LinkID) {
        guard let link = links[number] else { return }
        if link.datagrams.works, message.count <= Datagram.maximumMessageLength {
            sendDatagram(message, on: number)
        } else if link.channel.isWritable {
            link.write(.message(message, .unreliable))
        }
    }

    /// Whether what is unreliable goes over UDP to a peer now.
    package func usesDatagrams(to peer: PeerID) -> Bool {
        table.link(to: peer).flatMap { links[$0]?.datagrams.works } ?? false
    }

    /// Begins when both sides have said where they take datagrams; else the socket goes.
    func beginDatagrams(_ number: PeerTable.LinkID) {
        guard let socket = links[number]?.socket else { return }
        guard table.connectedPeer(on: number) != nil, let remote = links[number]?.remoteOffer else {
            links[number]?.socket = nil
            return socket.close()
        }
        addJob.yield { [weak self] in
            guard (try? await socket.connect(to: remote)) != nil else { return socket.close() }
            await self?.sendDatagram(nil, on: number)
            for await datagram in socket.arrivals { await self?.arrived(datagram, number) }
        }
    }

    /// - Parameter message: nil for a probe.
    func sendDatagram(_ message: [UInt8]?, on number: PeerTable.LinkID) {
        guard let socket = links[number]?.socket, let remote = links[number]?.remoteOffer,
            let next = links[number]?.datagrams.next()
        else { return }
        socket.send(Datagram(token: remote.token, number: next, message: message))
    }

    private func arrived(_ datagram: Datagram, _ number: PeerTable.LinkID) {
        guard let peer = table.connectedPeer(on: number) else { return }
        let isFirst = links[number]?.datagrams.heard == 0
        guard links[number]?.datagrams.arrived(datagram.number) == true else { return }
        // The other side need not wait for the next ping to know.
        if isFirst { links[number]?.ping() }
        guard let message = datagram.message, !queue.isFull else { return }
        queue.push(.received(message, from: peer, .unreliable))
    }
}

internal import NIOCore

/// Unreliable messages: over UDP while that is known to work, else over the connection.
extension PeerSession {
    /// Sends without waiting.
    func sendUnreliably(_ message: [UInt8], on number: PeerTable.LinkID) {
        guard let link = links[number] else { return }
        if link.datagrams.works, message.count <= link.seal.maximumMessageLength {
            sendDatagram(message, on: number)
        } else if link.channel.isWritable {
            link.write(.message(message, .unreliable))
        }
    }

    /// Whether unreliable messages to a peer currently use UDP.
    package func usesDatagrams(to peer: PeerID) -> Bool {
        table.link(to: peer).flatMap { links[$0]?.datagrams.works } ?? false
    }

    /// Starts datagrams if both sides have offered them; otherwise discards the socket.
    func beginDatagrams(_ number: PeerTable.LinkID) {
        guard let socket = links[number]?.socket else { return }
        guard table.connectedPeer(on: number) != nil, let remote = links[number]?.remoteOffer,
            let seal = seal(for: remote)
        else {
            links[number]?.socket = nil
            return socket.close()
        }
        links[number]?.seal = seal
        addJob.yield { [weak self] in
            guard (try? await socket.connect(to: remote)) != nil else { return socket.close() }
            await self?.sendDatagram(nil, on: number)
            for await datagram in socket.arrivals { await self?.arrived(datagram, number) }
        }
    }

    /// Nil where datagrams would be plain although the connection is not.
    private func seal(for remote: DatagramOffer) -> (any DatagramSealing)? {
        guard let security else { return PlainSeal() }
        return remote.key.map { security.seal($0) }
    }

    /// - Parameter message: nil for a probe.
    func sendDatagram(_ message: [UInt8]?, on number: PeerTable.LinkID) {
        guard let socket = links[number]?.socket, let remote = links[number]?.remoteOffer,
            let next = links[number]?.datagrams.next(),
            let bytes = links[number]?.seal.seal(Datagram(token: remote.token, number: next, message: message))
        else { return }
        socket.send(bytes)
    }

    private func arrived(_ datagram: Datagram, _ number: PeerTable.LinkID) {
        guard let peer = table.connectedPeer(on: number) else { return }
        let isFirst = links[number]?.datagrams.heard == 0
        guard links[number]?.datagrams.arrived(datagram.number) == true else { return }
        // Confirm the first one immediately instead of with the next ping.
        if isFirst { links[number]?.ping() }
        guard let message = datagram.message, !queue.isFull else { return }
        queue.push(.received(message, from: peer, .unreliable))
    }
}

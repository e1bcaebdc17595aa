package import DNSSD

/// Whether a service is spoken to without TLS, where its key is known.
package enum PlainSpeech: Hashable, Sendable {
    /// Nothing is known of it.
    case usual
    /// Its key is known, or may be, and it announces TLS: nothing is to be sent without.
    case refused(String)
    /// Its key is known, and it does not announce TLS: whoever took its name would not either. Worth a line.
    case doubtful(String)
}

extension KnownPeers {
    /// Judges a connection without TLS; texts are for people, and safe for a terminal.
    /// - Parameter record: the service's TXT record, in which `tls=1` announces TLS.
    package func plainSpeech(to instance: ServiceInstance, announcing record: TXTRecord?) -> PlainSpeech {
        let name = PeerName.service(instance)
        let speaksTLS = record?.text(for: "tls") == "1"
        if !keys(of: name).isEmpty {
            return speaksTLS
                ? .refused("\(name.text) announces TLS, and its key is known: without TLS nothing is sent to it")
                : .doubtful("the key of \(name.text) is known, but without --tls nothing says who answers")
        }
        guard speaksTLS else { return .usual }
        if !canFindNames {
            return .refused(
                "\(name.text) announces TLS, and whether its key is known cannot be said: the known names are hashed")
        }
        guard let hint = record.flatMap({ KeyHint($0) }), let voucher = voucher(for: hint.key) else { return .usual }
        let who = voucher.host.map { "\($0.text), which" } ?? "a machine that"
        return .doubtful("\(name.text) announces TLS, with the key of \(who) was paired: --tls speaks it")
    }
}

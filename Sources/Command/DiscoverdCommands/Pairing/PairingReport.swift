#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoveryJSON
internal import Libc
internal import PeerIdentity
internal import DiscoverySystem

/// Prints what becomes of pairing to standard output, for people or as JSON lines. For use by several tasks.
struct PairingReport: Sendable {
    let notices: ProgramNotices
    private let json: Bool
    private let isUTF8: Bool
    private let failure = Locked<Int32?>(nil)

    init(_ session: Session) {
        notices = session.notices
        json = session.json
        isUTF8 = session.terminal.isUTF8
    }

    /// This machine waits.
    func waiting(as name: ServiceName) {
        write(
            "waiting; on the other machine: discoverd pair \(name.text.quotedForShell.escapedForTerminal)", "waiting"
        ) {
            $0.member("name", name.text)
        }
    }

    /// A code is shown, to people on the terminal.
    func comparing(_ code: PairingCode, _ peer: PairingPeer) {
        write(nil, "comparing") {
            $0.member("code", code.description)
            $0.member("label", peer.label)
            $0.member("fingerprint", peer.key.description)
        }
    }

    /// The key was stored.
    func paired(_ peer: PairingPeer) {
        let names = peer.names.map(\.description)
        write("paired: \(names.joined(separator: ", ")) \(peer.key)", "paired") { object in
            object.member("label", peer.label)
            object.member("fingerprint", peer.key.description)
            object.key("names")
            object.array { array in for name in names { array.string(name) } }
        }
        if peer.names.count == 1 {
            notices.notice("its label is no host's name: what it serves is asked about when it is dialled")
        }
    }

    /// - Throws: where standard output could not be written.
    func check() throws(CommandError) {
        guard let code = failure.withLock({ $0 }), code != EPIPE else { return }
        throw CommandError(.ioError, "cannot write to standard output", errno: code)
    }

    private func write(_ text: String?, _ state: String, _ members: (inout JSONWriter) -> Void) {
        var bytes: [UInt8] = []
        if json {
            var writer = JSONWriter()
            writer.line("pairing") { object in
                object.member("state", state)
                members(&object)
            }
            bytes = writer.bytes
        } else if let text {
            bytes = Array((text.tamed(isUTF8: isUTF8) + "\n").utf8)
        }
        if let code = Descriptor.write(bytes, to: STDOUT_FILENO) { failure.withLock { $0 = $0 ?? code } }
    }
}

extension String {
    /// The text as one word of a POSIX shell's command line.
    fileprivate var quotedForShell: String {
        let isPlain = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            case UInt8(ascii: "-"): utf8.first != byte
            default: false
            }
        }
        return isPlain
            ? self : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
#endif

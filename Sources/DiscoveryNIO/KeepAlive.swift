import NIOCore

/// Socket options by which a host that vanishes without a word is noticed after 25 s, whether something is being sent or not
/// (tcp(7)); the system's own defaults take two hours.
enum KeepAlive {
    static let options: [(option: ChannelOptions.Types.SocketOption, value: Int)] = [
        (ChannelOptions.Types.SocketOption(level: .socket, name: .so_keepalive), 1),
        (tcp(4), 10),  // TCP_KEEPIDLE, s
        (tcp(5), 5),  // TCP_KEEPINTVL, s
        (tcp(6), 3),  // TCP_KEEPCNT
        (tcp(18), 25_000),  // TCP_USER_TIMEOUT, ms
    ]

    // Their numbers in <linux/tcp.h>; SwiftNIO has no names for them.
    private static func tcp(_ name: CInt) -> ChannelOptions.Types.SocketOption {
        ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
    }
}

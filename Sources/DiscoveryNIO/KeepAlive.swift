import NIOCore

/// Socket options that detect a silently vanished host after 25 s, whether or not something is being sent (tcp(7)); the system's defaults
/// take two hours.
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

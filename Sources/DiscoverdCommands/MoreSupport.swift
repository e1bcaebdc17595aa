#if Commands
/// What `discoverd-dns` adds to the commands.
package struct MoreSupport: Sendable {
    /// Services of other domains than `local`.
    package var dns: DNSSupport
    /// Connections between machines that know each other's keys.
    package var tls: TLSSupport
    /// The page of `discoverd show`.
    package var page: PageSupport

    package init(dns: DNSSupport, tls: TLSSupport, page: PageSupport) {
        self.dns = dns
        self.tls = tls
        self.page = page
    }
}
#endif

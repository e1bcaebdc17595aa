#if Commands
internal import CommandText
internal import DiscoveryJSON

/// The columns of services on a terminal, in the order of `DiscoveredService.textFields`, with the event before and the key's state after them.
struct ServiceColumns {
    let all: [ColumnLayout.Column?]

    /// - Parameters:
    ///   - tellsEvents: each line begins with the event.
    ///   - hasType: services of several types are shown.
    ///   - hasDomain: services of several domains are.
    ///   - showsKeys: each line ends with the state of the service's key.
    init(_ detail: ServiceDetail, tellsEvents: Bool, hasType: Bool, hasDomain: Bool, showsKeys: Bool) {
        let event: [ColumnLayout.Column?] = tellsEvents ? [.init("", 1)] : []
        let identity: [ColumnLayout.Column?] = [
            .init("NAME", 10, upTo: detail == .full ? 40 : 63, weight: 4),
            hasType ? .init("TYPE", 10, upTo: 22, weight: 2) : nil,
            hasDomain ? .init("DOMAIN", 10, upTo: 40, weight: 2) : nil,
            .init("IF", 4, upTo: detail == .full ? 12 : 63),
        ]
        let full: [ColumnLayout.Column?] = [
            .init("HOST", 8, upTo: 30, weight: 2), .init("PORT", 5), .init("ADDRESS", 10, upTo: 45, weight: 3),
            .init("TXT", 4, upTo: 4096, weight: 2),
        ]
        all = event + identity + (detail == .full ? full : []) + (showsKeys ? [.init("KEY", 7)] : [])
    }
}
#endif

import AppSupport
import AppTLS
import CommandFrame
import DNSSD
import Discovery
import DiscoveryNIO
import DiscoveryTLS
import FileDropCore
import PeerIdentity

extension OriginKey {
    /// The user's, or a temporary one if none can be stored.
    /// - Throws: status 78 where a newer version has written what is stored.
    static func ofUser(_ app: App) throws -> OriginKey {
        do throws(StateFolder.Failure) {
            return try OriginKey(in: try StateFolder())
        } catch {
            if error.isNewer { throw CommandError(.badConfiguration, "\(error)") }
            app.notices.notice("a receiver will not know again what is sent (\(error))")
            return OriginKey()
        }
    }
}

extension SourceTree {
    /// Collects what to send, and reports what is left out.
    static func look(at paths: [String], _ key: OriginKey, _ app: App) async throws -> SourceTree {
        let tree = try await blocking { try SourceTree(paths, key: key) }
        for text in tree.leftOut { app.notices.notice(text) }
        if tree.furtherLeftOut > 0 { app.notices.notice("\(tree.furtherLeftOut) more were left out") }
        return tree
    }
}

extension App {
    /// Connects to the framed port of a service, with TLS.
    func connect(to service: DiscoveredService, _ tls: PeerTLS) async throws -> DropConnection {
        let framed = try DropService.framed(service)
        warn(of: service, tls)
        return try await network().connect(
            to: .service(framed), on: options.interfaces,
            initializer: DropConnection.calling(.service(service.instance), tls)
        ).output
    }

    /// Runs a transfer that can be resumed, and says so if Ctrl-C ends it.
    func resumable(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            if stop.isRequested { notices.notice("stopped; run it again to go on") }
            throw error
        }
    }
}

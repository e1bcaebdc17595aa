#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Libc
internal import DiscoverySystem

/// What avahi-daemon publishes by itself: the files in /etc/avahi/services, as avahi.service(5) describes them.
struct AvahiServiceFiles {
    /// A service of a file.
    struct Service: Hashable {
        /// Its name is the one on this host.
        var offered: OfferedService
        let path: String
    }

    static let directory = "/etc/avahi/services"
    /// More files are not read.
    static let mostFiles = 256

    /// The services, in the files' order.
    private(set) var services: [Service] = []
    /// What is wrong with files, whose services are left out; safe for a terminal.
    private(set) var faults: [String] = []

    /// Reads the files; avahi-daemon may not be there.
    init(in directory: String = Self.directory, host: String = Environment.hostLabel ?? "localhost") {
        var names: [String] = []
        do throws(SystemError) {
            names = try SystemFile.names(in: directory, atMost: Self.mostFiles + 1) {
                // As glob(3), with which avahi-daemon finds them.
                $0.hasSuffix(".service") && !$0.hasPrefix(".")
            }
        } catch {
            if error.code != ENOENT { faults.append("\(directory): \(SystemError.text(error.code))") }
        }
        if names.count > Self.mostFiles { faults.append("\(directory): only \(Self.mostFiles) files are read") }
        for name in names.prefix(Self.mostFiles).sorted() {
            let path = "\(directory)/\(name)"
            do throws(CommandError) {
                // Not through a link, which may lead anywhere.
                let group = try AvahiServiceFile.group(path, followingLinks: false)
                services += group.services.map { service in
                    var offered = service.offered
                    offered.name = ServiceName(observed: group.name(on: host))
                    return Service(offered: offered, path: path)
                }
            } catch {
                faults.append("\(path.escapedForTerminal)\(error.message)")
            }
        }
    }
}

/// One of these files.
enum AvahiServiceFile {
    /// Reads a file of at most 64 KiB.
    /// - Throws: what is wrong with it; the message follows the file's name.
    static func group(_ path: String, followingLinks: Bool = true) throws(CommandError) -> AvahiServiceGroup {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try SystemFile.read(path, atMost: XMLElement.largest, followingLinks: followingLinks)
        } catch {
            throw CommandError(.noInput, ": \(reason(error.code, followingLinks))")
        }
        do throws(XMLElement.Fault) {
            return try AvahiServiceGroup(XMLElement(document: bytes))
        } catch {
            throw CommandError(.badData, ":\(error.line): \(error.reason.escapedForTerminal)")
        }
    }

    private static func reason(_ code: Int32, _ isFollowing: Bool) -> String {
        switch code {
        case EINVAL, ENXIO: "not a regular file"
        case ELOOP where !isFollowing: "a link, which is not followed"
        default: SystemError.text(code)
        }
    }
}
#endif

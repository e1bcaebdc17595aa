internal import DNSSD
package import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc

/// Keeps registrations over restarts: one file, replaced as a whole, with a checksum.
package struct RegistryFile: Sendable {
    /// A registration that is kept.
    package struct Kept: Hashable, Sendable {
        package let id: String
        package let uid: UInt32
        package let request: RegistrationRequest
    }

    /// The contents of a file.
    package enum Content: Hashable, Sendable {
        case nothing
        case registrations([Kept])
        /// It was broken, and is kept under another name; the reason is for people.
        case setAside(String)
        /// The system did not let it be read now; it is where it was, and the reason is for people.
        case unreadable(String)
    }

    private static let name = "registrations.json"
    /// What is written, and the newest that is read (docs/decisions/0059-formats-have-a-version.md).
    private static let format = 1

    private let directory: String
    /// The longest file that is read, and so that is written.
    private let maximumSize: Int
    private var path: String { "\(directory)/\(Self.name)" }

    package init(directory: String, atMost maximumSize: Int = 16 * 1024 * 1024) {
        (self.directory, self.maximumSize) = (directory, maximumSize)
    }

    package func read() -> Content {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try SystemFile.read(path, atMost: maximumSize, followingLinks: false)
        } catch {
            switch error.code {
            case ENOENT: return .nothing
            // No file of ours: a link, a socket, a device, a pipe, or one of any size.
            case ELOOP, ENXIO, EINVAL, EFBIG: return setAside(error.description)
            // A descriptor, memory or permission is missing, or the disk fails: the file may be good.
            default: return .unreadable(error.description)
            }
        }
        if let refusal = refusal(of: bytes) { return .unreadable(refusal) }
        do {
            return .registrations(try Self.parse(bytes))
        } catch let error as JSONReader.Failure {
            return setAside(error.description)
        } catch let error as ControlError {
            return setAside(error.message)
        } catch {
            return setAside((error as? JSONShapeError)?.reason ?? "it is broken")
        }
    }

    /// Why the file must be left alone, and a program that would write it must not run: a newer version has written it. Nil otherwise.
    package var refusal: String? {
        (try? SystemFile.read(path, atMost: maximumSize, followingLinks: false)).flatMap { refusal(of: $0) }
    }

    private func refusal(of bytes: [UInt8]) -> String? {
        guard let format = (try? JSONReader.read(bytes))?["v"]?.integer, format > Self.format else { return nil }
        return "\(path) has format \(format), of a newer discoverd; this one knows \(Self.format)"
    }

    /// Replaces the file with one written beside it, synced and renamed, so that there is always a complete file
    /// (rename(2)).
    /// - Returns: nil, or why the old file is still in place.
    package func write(_ kept: [Kept]) -> String? {
        let bytes = Self.bytes(of: kept)
        do throws(SystemError) {
            guard bytes.count <= maximumSize else { throw SystemError(EFBIG, path) }
            try SystemFile.replace(path, with: bytes)
            return nil
        } catch {
            return error.description
        }
    }

    /// Whether a file with all of these is not too long.
    package func hasRoom(for kept: [Kept]) -> Bool { Self.bytes(of: kept).count <= maximumSize }

    private func setAside(_ reason: String) -> Content {
        let aside = nameAside
        let isMoved = unsafe rename(path, aside) == 0
        let what = isMoved ? "it is kept as \(aside)" : "it could not be set aside"
        return .setAside("\(path) is broken: \(reason); \(what), and the services in it are lost")
    }

    /// The first free one of this many; the last is overwritten by a newer one.
    private static let maximumAside = 9

    /// Where a broken file goes: earlier ones stay, because one of them may hold the data.
    private var nameAside: String {
        let names = ["\(path).corrupt"] + (2...Self.maximumAside).map { "\(path).corrupt.\($0)" }
        var info = stat()
        return names.first { unsafe lstat($0, &info) != 0 && errno == ENOENT } ?? names[names.count - 1]
    }

    package static func bytes(of kept: [Kept]) -> [UInt8] {
        var list = JSONWriter()
        list.array { array in
            for one in kept {
                array.object { object in
                    object.member("id", one.id)
                    object.member("uid", Int(one.uid))
                    object.key("request")
                    object.request(one.request)
                }
            }
        }
        return sealed(list.bytes)
    }

    /// The file with a list of registrations, as JSON, in it.
    package static func sealed(_ list: [UInt8]) -> [UInt8] {
        // The checksum is of the list exactly as it is written.
        let head = "{\"v\":\(format),\"checksum\":\"\(checksum(list))\",\"registrations\":"
        return Array(head.utf8) + list + Array("}\n".utf8)
    }

    package static func parse(_ bytes: [UInt8]) throws -> [Kept] {
        let json = try JSONReader.read(bytes)
        guard json["v"]?.integer == format else { throw JSONShapeError("it has another version") }
        let marker = Array("\"registrations\":".utf8)
        guard let start = bytes.firstRange(of: marker)?.upperBound, bytes.suffix(2) == Array("}\n".utf8)[...],
            start <= bytes.count - 2, json["checksum"]?.string == checksum(bytes[start..<(bytes.count - 2)])
        else { throw JSONShapeError("its checksum is wrong") }
        guard let entries = json["registrations"]?.array else {
            throw JSONShapeError("it has no list of services")
        }
        return try entries.map { entry in
            guard let id = entry["id"]?.string, let uid = entry["uid"]?.integer.flatMap({ UInt32(exactly: $0) }),
                let request = entry["request"]
            else { throw JSONShapeError("a service has no id, uid or request") }
            return Kept(id: id, uid: uid, request: try RegistrationRequest(request))
        }
    }

    /// FNV-1a, 64 bits: against a torn or mistyped file, not against an attacker.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> String {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}

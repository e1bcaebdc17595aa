import Foundation

/// Debian's libnss-mdns, unpacked beside this machine's libraries.
enum MDNSLibrary {
    #if arch(arm64)
    private static let machine = "aarch64"
    #else
    private static let machine = "x86_64"
    #endif
    private static let path = "\(Lab.package).build-tests/nss-mdns/lib/\(machine)-linux-gnu"
    static let isThere = FileManager.default.fileExists(atPath: "\(path)/libnss_mdns.so.2")

    /// Runs a script on a host whose C library asks libnss-mdns.
    static func asking(_ lab: Lab, _ host: String, _ script: String) async throws -> Lab.Run {
        let mounted = """
            echo 'hosts: files mdns' >/run/nsswitch.conf; : >/run/resolv.conf
            mount --bind /run/nsswitch.conf /etc/nsswitch.conf; mount --bind /run/resolv.conf /etc/resolv.conf
            export LD_LIBRARY_PATH=\(path)
            \(script)
            """
        return try await lab.toEnd(host, ["/usr/bin/unshare", "-m", "/bin/bash", "-c", mounted], within: .seconds(40))
    }
}

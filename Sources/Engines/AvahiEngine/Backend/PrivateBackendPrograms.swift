import CSupervisor
import DNSSD
import DiscoverySystem
import Libc

/// Finds the programs of a private backend and knows their arguments.
struct PrivateBackendPrograms {
    let dbus: String
    let avahi: String

    /// - Throws: `.backendUnavailable` with the packages to install.
    init() throws(DiscoveryError) {
        let dbus = SystemFile.program("dbus-daemon")
        let avahi = SystemFile.program("avahi-daemon")
        guard let dbus, let avahi else {
            let missing = [dbus == nil ? "dbus-daemon" : nil, avahi == nil ? "avahi-daemon" : nil].compactMap(\.self)
            throw DiscoveryError(
                .backendUnavailable,
                "no private avahi-daemon can be started, as \(missing.joined(separator: " and ")) cannot be found: "
                    + "install the package\(missing.count == 1 ? "" : "s") \(missing.joined(separator: " and "))")
        }
        self.dbus = dbus
        self.avahi = avahi
    }

    /// Whether both are installed.
    static var arePresent: Bool { (try? PrivateBackendPrograms()) != nil }

    /// Lends `body` the configuration for csupervisor_start. It is freed afterwards: the child has its own copy of the memory.
    func withConfig<Result>(
        for directory: String, _ configuration: PrivateBackendConfiguration, shared: SharedBus.Place?,
        passesOutput: Bool,
        _ body: (UnsafePointer<csupervisor_config>) -> Result
    ) -> Result {
        let dbus = unsafe CStrings([
            dbus, "--config-file=\(directory)/dbus.conf", "--nofork", "--nopidfile", "--print-address=3",
        ])
        let avahi = unsafe CStrings(
            [
                avahi, "-f", "\(directory)/avahi-daemon.conf", "--no-drop-root", "--no-chroot", "--no-rlimits",
                "--no-proc-title",
            ] + (passesOutput ? ["--debug"] : []))
        let environment = unsafe CStrings([
            "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "DBUS_SYSTEM_BUS_ADDRESS=\(configuration.address)",
        ])
        let place = unsafe CStrings(shared.map { [$0.directory, $0.link, $0.lock] } ?? [])
        defer {
            unsafe place.free()
            unsafe dbus.free()
            unsafe avahi.free()
            unsafe environment.free()
        }
        return unsafe directory.withCString { path in
            unsafe "\(configuration.user) \(configuration.user) 1\n".withCString { users in
                unsafe "\(configuration.group) \(configuration.group) 1\n".withCString { groups in
                    var config = unsafe csupervisor_config(
                        directory: path, dbus_argv: dbus.pointer, avahi_argv: avahi.pointer,
                        environment: environment.pointer,
                        isolation: configuration.owner == 0 ? CSUPERVISOR_AS_ROOT : CSUPERVISOR_AS_USER,
                        user: configuration.user, group: configuration.group,
                        shared_directory: place.count == 3 ? place.pointer[0] : nil,
                        shared_link: place.count == 3 ? place.pointer[1] : nil,
                        shared_lock: place.count == 3 ? place.pointer[2] : nil,
                        uid_map: users, gid_map: groups, passes_output: passesOutput)
                    return unsafe body(&config)
                }
            }
        }
    }

    /// A NULL-terminated array of C strings.
    @unsafe private struct CStrings {
        let pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        let count: Int

        init(_ strings: [String]) {
            unsafe count = strings.count
            unsafe pointer = .allocate(capacity: strings.count + 1)
            for (index, string) in strings.enumerated() { unsafe (pointer + index).initialize(to: strdup(string)) }
            unsafe (pointer + strings.count).initialize(to: nil)
        }

        func free() {
            for index in unsafe 0..<count { unsafe Libc.free(pointer[index]) }
            unsafe pointer.deallocate()
        }
    }
}

/// Where a program runs that is to find no network, no bus and no daemon: namespaces of its own with nothing in them. It takes
/// milliseconds, where a lab takes a second; and whatever the program does, this machine's interfaces are out of its reach.
enum BareHost {
    /// Runs the built discoverd to its end.
    /// - Parameter programs: those that cannot be run, by their paths.
    static func discoverd(
        _ arguments: [String], without programs: [String] = [], within limit: Duration
    ) async throws -> Lab.Run {
        // Its own /run: a daemon of this machine is not to be found either.
        let script = """
            mount -t tmpfs tmpfs /run || exit 125
            for program in \(programs.joined(separator: " ")); do mount --bind /dev/null $program || exit 125; done
            exec "$@"
            """
        let namespaces = ["/usr/bin/unshare", "--user", "--map-root-user", "--net", "--mount"]
        let start = ContinuousClock.now
        let process = try LabProcess(
            namespaces + ["/bin/bash", "-c", script, "bash", DiscoverdBinary.path] + arguments,
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/run/nowhere"])
        let exit = try await process.exit(within: limit)
        return Lab.Run(
            exit: exit, output: process.lines(), errors: process.lines(.stderr), duration: ContinuousClock.now - start)
    }
}

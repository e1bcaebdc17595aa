/// Runs a program without a network, a bus or a daemon, in empty namespaces of its own. That takes milliseconds instead of a lab's second,
/// and keeps this machine's interfaces out of the program's reach.
enum BareHost {
    /// Runs the built discoverd until it ends.
    /// - Parameter programs: paths of programs that must not be executable.
    static func discoverd(
        _ arguments: [String], without programs: [String] = [], within limit: Duration
    ) async throws -> Lab.Run {
        // Its own /run, which also hides a daemon of this machine.
        let script = """
            mount -t tmpfs tmpfs /run || exit 125
            for program in \(programs.joined(separator: " ")); do mount --bind /dev/null $program || exit 125; done
            exec "$@"
            """
        let namespaces = ["/usr/bin/unshare", "--user", "--map-root-user", "--net", "--mount"]
        let start = ContinuousClock.now
        let process = try LabProcess(
            namespaces + ["/bin/bash", "-c", script, "bash", Built.discoverd] + arguments,
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/run/nowhere"])
        let exit = try await process.exit(within: limit)
        return Lab.Run(
            exit: exit, output: process.lines(), errors: process.lines(.stderr), duration: ContinuousClock.now - start)
    }
}

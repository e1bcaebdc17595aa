import Libc

/// What a program does in a bare `swift build`: the trait `Commands` is off, so it has no command line.
public enum BareBuild {
    /// Prints how to build the program, and exits with status 78.
    public static func end(_ program: String) -> Never {
        let error = CommandError(
            .badConfiguration, "\(program) was built without the package's trait Commands and can do nothing",
            advice: ["Build it with: swift build --traits Commands (as 'make build' does)."])
        ProgramNotices(program: program).failure(error)
        exit(error.status.rawValue)
    }
}

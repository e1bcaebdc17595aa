import Glibc

/// A program as a bare `swift build` makes it: the package's trait `Commands` is off, so its command line is missing.
public enum BareBuild {
    /// Says how to build the program, and ends the process with status 78.
    public static func end(_ program: String) -> Never {
        let error = CommandError(
            .badConfiguration, "\(program) was built without the package's trait Commands and can do nothing",
            advice: ["Build it with: swift build --traits Commands (as 'make build' does)."])
        ProgramNotices(program: program).failure(error)
        exit(error.status.rawValue)
    }
}

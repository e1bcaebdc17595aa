/// The version of all programs, for `--version`.
public enum AppVersion {
    /// That of discoverd.
    public static let current = "0.1.0-dev"
}

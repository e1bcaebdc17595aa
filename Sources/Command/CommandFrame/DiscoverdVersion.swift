/// The version of discoverd and the programs that come with it, for `--version`.
public enum DiscoverdVersion {
    /// The current version, as `0.2.0`; CHANGELOG.md and README.md name the same (`make check`).
    public static let current = "0.2.0"
}

/// The version of discoverd and the programs that come with it, for `--version`.
public enum DiscoverdVersion {
    /// The current version, as `0.1.0`.
    public static let current = "0.1.0-dev"
}

/// The version of discoverd and all programs that come with it, for `--version`.
public enum DiscoverdVersion {
    /// It, as `0.1.0`.
    public static let current = "0.1.0-dev"
}

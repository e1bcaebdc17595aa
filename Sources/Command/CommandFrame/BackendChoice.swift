#if Commands
public import ArgumentParser
#endif

/// `--backend`: which mDNS responder to use.
public enum BackendChoice: String, CaseIterable, Sendable {
    /// The system's if it answers, else a private one.
    case auto
    /// The host's avahi-daemon.
    case system
    /// An avahi-daemon that discoverd starts itself.
    case `private`
}

#if Commands
extension BackendChoice: ExpressibleByArgument {}
#endif

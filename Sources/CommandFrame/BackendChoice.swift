#if Commands
public import ArgumentParser
#endif

/// `--backend`: what answers for mDNS.
public enum BackendChoice: String, CaseIterable, Sendable {
    /// The system's, if it answers, else one of our own.
    case auto
    /// The host's avahi-daemon.
    case system
    /// An avahi-daemon of our own.
    case `private`
}

#if Commands
extension BackendChoice: ExpressibleByArgument {}
#endif

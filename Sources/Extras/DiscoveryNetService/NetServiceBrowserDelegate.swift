public import Foundation

/// Receives what a `NetServiceBrowser` finds. Every method is optional, and is called from the run loop in which the browser is scheduled,
/// never within the causing method.
public protocol NetServiceBrowserDelegate: AnyObject {
    /// A search begins.
    func netServiceBrowserWillSearch(_ browser: NetServiceBrowser)
    /// `stop()` has ended a search.
    func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser)
    /// The search could not start, or has failed.
    func netServiceBrowser(_ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber])
    /// A domain was found; with `moreComing` the next call follows immediately, so updating a display can wait.
    func netServiceBrowser(_ browser: NetServiceBrowser, didFindDomain domainString: String, moreComing: Bool)
    /// A service was found, but not resolved; with `moreComing` the next call follows immediately, so updating a display can wait.
    func netServiceBrowser(_ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool)
    /// A domain is gone.
    func netServiceBrowser(_ browser: NetServiceBrowser, didRemoveDomain domainString: String, moreComing: Bool)
    /// A service is gone; this is the object that `didFind` passed.
    func netServiceBrowser(_ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool)
}

extension NetServiceBrowserDelegate {
    /// Does nothing.
    public func netServiceBrowserWillSearch(_ browser: NetServiceBrowser) {}
    /// Does nothing.
    public func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser) {}
    /// Does nothing.
    public func netServiceBrowser(_ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber]) {}
    /// Does nothing.
    public func netServiceBrowser(
        _ browser: NetServiceBrowser, didFindDomain domainString: String, moreComing: Bool
    ) {}
    /// Does nothing.
    public func netServiceBrowser(_ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool) {}
    /// Does nothing.
    public func netServiceBrowser(
        _ browser: NetServiceBrowser, didRemoveDomain domainString: String, moreComing: Bool
    ) {}
    /// Does nothing.
    public func netServiceBrowser(_ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool) {}
}

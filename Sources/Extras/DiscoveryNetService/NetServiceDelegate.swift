public import Foundation

/// Receives the events of a `NetService`. Every method is optional, and is called from the run loop in which the service is scheduled,
/// never within the causing method.
public protocol NetServiceDelegate: AnyObject {
    /// Publishing begins.
    func netServiceWillPublish(_ sender: NetService)
    /// The service is announced under its current `name`. Called again if a later collision changes the name.
    func netServiceDidPublish(_ sender: NetService)
    /// The service is not published, or no longer: perhaps long after it was.
    func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber])
    /// Resolving begins.
    func netServiceWillResolve(_ sender: NetService)
    /// Host, port, TXT record and all addresses are known. Called again if more addresses become known within the time limit.
    func netServiceDidResolveAddress(_ sender: NetService)
    /// The service was not resolved.
    func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber])
    /// Publishing or resolving has ended: by `stop()`, with goodbyes sent, or because the time limit has passed.
    func netServiceDidStop(_ sender: NetService)
    /// The TXT record, at the start and after every change, between `startMonitoring()` and `stopMonitoring()`.
    func netService(_ sender: NetService, didUpdateTXTRecord data: Data)
    /// A client connected to a service published with `.listenForConnections`; open the streams. May be called before
    /// `netServiceDidPublish` if the client is fast.
    func netService(
        _ sender: NetService, didAcceptConnectionWith inputStream: InputStream, outputStream: OutputStream)
}

extension NetServiceDelegate {
    /// Does nothing.
    public func netServiceWillPublish(_ sender: NetService) {}
    /// Does nothing.
    public func netServiceDidPublish(_ sender: NetService) {}
    /// Does nothing.
    public func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {}
    /// Does nothing.
    public func netServiceWillResolve(_ sender: NetService) {}
    /// Does nothing.
    public func netServiceDidResolveAddress(_ sender: NetService) {}
    /// Does nothing.
    public func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber]) {}
    /// Does nothing.
    public func netServiceDidStop(_ sender: NetService) {}
    /// Does nothing.
    public func netService(_ sender: NetService, didUpdateTXTRecord data: Data) {}
    /// Does nothing: the connection is closed.
    public func netService(
        _ sender: NetService, didAcceptConnectionWith inputStream: InputStream, outputStream: OutputStream
    ) {}
}

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

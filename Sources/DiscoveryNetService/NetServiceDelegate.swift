public import Foundation

/// What becomes of a `NetService`. Every call is optional, and comes from the run loop in which the service is
/// scheduled, never from within the method that caused it.
public protocol NetServiceDelegate: AnyObject {
    /// Publishing begins.
    func netServiceWillPublish(_ sender: NetService)
    /// The service is announced; `name` is what it is called now. Called again when a later collision changes the name.
    func netServiceDidPublish(_ sender: NetService)
    /// The service is not published, or is no longer: perhaps long after it was.
    func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber])
    /// Resolving begins.
    func netServiceWillResolve(_ sender: NetService)
    /// Host, port, TXT record and all addresses are known. Called again when more become known in the time that is left.
    func netServiceDidResolveAddress(_ sender: NetService)
    /// It was not resolved.
    func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber])
    /// Publishing or resolving ended: by `stop()`, with goodbyes sent, or because the time to resolve is over.
    func netServiceDidStop(_ sender: NetService)
    /// The TXT record, at first and whenever it changes, between `startMonitoring()` and `stopMonitoring()`.
    func netService(_ sender: NetService, didUpdateTXTRecord data: Data)
    /// Somebody connected to a service that was published with `.listenForConnections`; the streams are to be opened.
    /// Who is fast may come before `netServiceDidPublish`.
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

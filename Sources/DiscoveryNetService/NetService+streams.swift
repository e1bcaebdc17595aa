import DNSSD
import Discovery
public import Foundation

extension NetService {
    /// Two streams over one connection to the service. It is made when one of them is opened: the service is resolved and
    /// all its addresses are dialled as RFC 8305 says, where the address policy allows. Schedule them for their events;
    /// without, `read` and `write` wait.
    /// - Returns: false when the type, name or domain cannot be; both are nil then.
    @discardableResult
    public func getInputStream(
        _ inputStream: UnsafeMutablePointer<InputStream?>?, outputStream: UnsafeMutablePointer<OutputStream?>?
    ) -> Bool {
        inputStream?.pointee = nil
        outputStream?.pointee = nil
        do throws(DiscoveryError) {
            let connection = StreamConnection(to: try instance(), network)
            guard let (input, output) = connection.take() else { return false }
            inputStream?.pointee = input
            outputStream?.pointee = output
            return true
        } catch {
            failure = error
            return false
        }
    }
}

import DNSSD
import Discovery
public import Foundation

extension NetService {
    /// Two streams that share one connection to the service. Opening either one makes the connection: resolves the service and dials all
    /// its addresses according to RFC 8305, as far as the address policy allows. Schedule the streams to receive their events; otherwise
    /// `read` and `write` block.
    /// - Returns: false if the type, name or domain is invalid; both streams are nil then.
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

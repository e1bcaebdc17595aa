import DNSSD
import Glibc

extension ServiceName {
    /// What a service without a name is called: this machine's host name, without its domain.
    static func ofThisMachine() throws(DiscoveryError) -> ServiceName {
        var bytes = [UInt8](repeating: 0, count: 256)
        let code = bytes.withUnsafeMutableBytes { buffer in
            buffer.baseAddress.map { gethostname($0, buffer.count - 1) } ?? -1
        }
        guard code == 0 else { throw DiscoveryError(.invalidServiceName, "this machine's name cannot be had") }
        let name = String(decoding: bytes.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }, as: UTF8.self)
        return try ServiceName(name)
    }
}

/// In the place of swift-crypto: a sum that the fuzzer can guess, so that it gets past signatures.
extension TSIGKey {
    func mac(of bytes: [UInt8]) -> [UInt8]? {
        let sum = bytes.reduce(0 as UInt8) { $0 &+ $1 }
        return secret + [sum] + [UInt8](repeating: 0, count: 30)
    }

    func isMAC(_ mac: [UInt8], of bytes: [UInt8]) -> Bool { mac == self.mac(of: bytes) }
}

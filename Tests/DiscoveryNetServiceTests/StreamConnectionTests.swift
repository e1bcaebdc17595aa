import Foundation
import Testing

@testable import DiscoveryNetService

@Suite("The connection beneath a pair of streams") struct StreamConnectionTests {
    /// ECONNRESET.
    private static let reset = 104

    private static func read(_ connection: StreamConnection) -> Int? {
        var bytes: [UInt8] = [0]
        return bytes.withUnsafeMutableBufferPointer { connection.read(into: $0) }
    }

    @Test("what comes after an error is no end: who reads is told of the error")
    func afterAnError() {
        let connection = StreamConnection()
        connection.failed(NSError(domain: NSPOSIXErrorDomain, code: Self.reset))
        connection.ended()
        #expect(Self.read(connection) == nil)
        #expect(!connection.isAtEnd && connection.error?.code == Self.reset)
    }

    @Test("an end that came before an error stays one")
    func beforeAnError() {
        let connection = StreamConnection()
        connection.ended()
        connection.failed(NSError(domain: NSPOSIXErrorDomain, code: Self.reset))
        #expect(Self.read(connection) == 0 && connection.isAtEnd)
    }
}

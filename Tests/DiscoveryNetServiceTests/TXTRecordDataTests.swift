import DiscoveryNetService
import Foundation
import Testing

@Suite("TXT records as data") struct TXTRecordDataTests {
    @Test("there and back; an empty one is one empty string (RFC 6763 §6.1)")
    func thereAndBack() {
        let pairs = ["a": Data("1".utf8), "bin": Data([0, 0xFF, 0x3D]), "empty": Data()]
        let data = NetService.data(fromTXTRecord: pairs)
        #expect([UInt8](data.prefix(4)) == [3] + Array("a=1".utf8))
        #expect(NetService.dictionary(fromTXTRecord: data) == pairs)
        #expect(NetService.data(fromTXTRecord: [:]) == Data([0]))
        #expect(NetService.dictionary(fromTXTRecord: Data([0])).isEmpty)
        #expect(NetService.dictionary(fromTXTRecord: Data()).isEmpty)
    }

    @Test("a key without = is empty; the first of equal keys counts (RFC 6763 §6.4); a broken length ends it")
    func hostile() {
        let data = Data([4] + Array("flag".utf8) + [3] + Array("K=1".utf8) + [3] + Array("k=2".utf8) + [9, 0x78])
        #expect(NetService.dictionary(fromTXTRecord: data) == ["flag": Data(), "K": Data("1".utf8)])
        // A slice whose indices do not start at 0.
        #expect(NetService.dictionary(fromTXTRecord: data.dropFirst(5))["K"] == Data("1".utf8))
    }

    @Test("entries that no record can hold are left out")
    func impossible() {
        let pairs = ["": Data(), "a=b": Data(), "ü": Data(), "long": Data(count: 256), "ok": Data("1".utf8)]
        #expect(NetService.dictionary(fromTXTRecord: NetService.data(fromTXTRecord: pairs)) == ["ok": Data("1".utf8)])
    }

    @Test("setTXTRecord accepts only records, and returns them byte for byte")
    func setting() {
        let service = NetService(domain: "", type: "_x._tcp", name: "x", port: 1)
        #expect(service.txtRecordData() == nil)
        let data = Data([4] + Array("flag".utf8) + [3] + Array("k=1".utf8))
        #expect(service.setTXTRecord(data) && service.txtRecordData() == data)
        #expect(!service.setTXTRecord(Data([200])) && service.txtRecordData() == data)
        #expect(service.setTXTRecord(nil) && service.txtRecordData() == nil)
    }
}

import DNSSD
public import Foundation

extension NetService {
    /// The keys and values of a TXT record; a key without `=` has an empty value. Of keys that are equal without regard
    /// to case the first counts (RFC 6763 §6.4); what follows a broken length is left out.
    public class func dictionary(fromTXTRecord txtData: Data) -> [String: Data] {
        let entries = TXTRecord(wire: txtData).entries.map { ($0.key, Data($0.value ?? [])) }
        return Dictionary(entries) { first, _ in first }
    }

    /// A TXT record with the keys in the order of their characters. What no record can have is left out: keys that are
    /// empty, not ASCII or have `=`, and values with which a string is longer than 255 bytes (RFC 6763 §6.1, §6.4).
    public class func data(fromTXTRecord txtDictionary: [String: Data]) -> Data {
        var record = TXTRecord()
        for (key, value) in txtDictionary.sorted(by: { $0.key < $1.key }) {
            try? record.append(key: key, value: [UInt8](value))
        }
        return record.wire
    }

    /// The TXT record: what was set, or what was found by resolving or monitoring; nil when there is none.
    public func txtRecordData() -> Data? { txt?.wire }

    /// Sets the TXT record of a service that is or will be published; who monitors it is told. Nil takes it away.
    /// - Returns: false when the data is not a TXT record, which then stays as it was.
    @discardableResult
    public func setTXTRecord(_ recordData: Data?) -> Bool {
        guard let recordData else {
            setTXT(nil)
            return true
        }
        guard let strings = recordData.characterStrings, recordData.count <= TXTRecord.maximumWireSize else {
            return false
        }
        setTXT(TXTRecord(strings: strings))
        return true
    }
}

extension TXTRecord {
    /// A record as it is on the wire, up to the first broken length.
    init(wire: Data) { self.init(strings: wire.leadingStrings.strings) }

    /// As it is on the wire: an empty record is one empty string (RFC 6763 §6.1).
    var wire: Data {
        let strings = isEmpty ? [[]] : strings
        return Data(strings.flatMap { [UInt8(truncatingIfNeeded: $0.count)] + $0 })
    }
}

extension Data {
    /// The strings of a TXT record; nil when a length goes beyond the end.
    fileprivate var characterStrings: [[UInt8]]? {
        let (strings, isWhole) = leadingStrings
        return isWhole ? strings : nil
    }

    fileprivate var leadingStrings: (strings: [[UInt8]], isWhole: Bool) {
        var strings: [[UInt8]] = []
        var rest = self[...]
        while let length = rest.popFirst() {
            guard rest.count >= length else { return (strings, false) }
            strings.append([UInt8](rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return (strings, true)
    }
}

import DNSSD
public import Foundation

extension NetService {
    /// The keys and values of a TXT record; a key without `=` has an empty value. If keys differ only in case, the first one counts (RFC
    /// 6763 §6.4). Everything after an invalid length is left out.
    public class func dictionary(fromTXTRecord txtData: Data) -> [String: Data] {
        let entries = TXTRecord(wire: txtData).entries.map { ($0.key, Data($0.value ?? [])) }
        return Dictionary(entries) { first, _ in first }
    }

    /// A TXT record with sorted keys. Leaves out what no record can hold: keys that are empty, not ASCII or contain `=`, and values that
    /// make a string longer than 255 bytes (RFC 6763 §6.1, §6.4).
    public class func data(fromTXTRecord txtDictionary: [String: Data]) -> Data {
        var record = TXTRecord()
        for (key, value) in txtDictionary.sorted(by: { $0.key < $1.key }) {
            try? record.append(key: key, value: [UInt8](value))
        }
        return record.wire
    }

    /// The TXT record that was set, or found by resolving or monitoring; nil if there is none.
    public func txtRecordData() -> Data? { txt?.wire }

    /// Sets the TXT record of a service that is or will be published; its monitors see the change. Nil removes it.
    /// - Returns: false if the data is not a TXT record; then nothing changes.
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
    /// Parses a record in wire format, up to the first invalid length.
    init(wire: Data) { self.init(strings: wire.leadingStrings.strings) }

    /// The record in wire format; an empty one is a single empty string (RFC 6763 §6.1).
    var wire: Data {
        let strings = isEmpty ? [[]] : strings
        return Data(strings.flatMap { [UInt8(truncatingIfNeeded: $0.count)] + $0 })
    }
}

extension Data {
    /// The strings of a TXT record; nil if a length exceeds the data.
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

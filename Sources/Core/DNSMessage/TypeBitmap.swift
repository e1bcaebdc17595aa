/// The types that a name has, as they are on the wire (RFC 4034 §4.1.2): however many they are, they cost their bytes alone.
public struct TypeBitmap: Hashable, Sendable {
    /// Windows, each with its number, its length and its bits.
    public let bytes: [UInt8]

    /// Takes windows as they are on the wire; nil if one does not fit.
    init?(windows bytes: ArraySlice<UInt8>) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard bytes.endIndex - index >= 2, 1...32 ~= bytes[index + 1],
                bytes.endIndex - index >= 2 + Int(bytes[index + 1])
            else { return nil }
            index += 2 + Int(bytes[index + 1])
        }
        self.bytes = Array(bytes)
    }

    /// Creates a bitmap of these types.
    public init(_ types: some Sequence<RecordType>) {
        var bytes: [UInt8] = []
        for (window, members) in Dictionary(grouping: types, by: { $0.rawValue >> 8 }).sorted(by: { $0.key < $1.key }) {
            let numbers = members.map { Int($0.rawValue & 0xFF) }
            var bitmap = [UInt8](repeating: 0, count: (numbers.max() ?? 0) / 8 + 1)
            for number in numbers { bitmap[number / 8] |= 0x80 >> UInt8(number % 8) }
            bytes += [UInt8(truncatingIfNeeded: window), UInt8(truncatingIfNeeded: bitmap.count)] + bitmap
        }
        self.bytes = bytes
    }

    /// Returns whether a type is among them.
    public func contains(_ type: RecordType) -> Bool {
        let (window, place) = (UInt8(type.rawValue >> 8), Int(type.rawValue & 0xFF) / 8)
        var index = 0
        while index + 1 < bytes.count {
            let length = Int(bytes[index + 1])
            if bytes[index] == window, place < length {
                return bytes[index + 2 + place] & 0x80 >> UInt8(type.rawValue & 7) != 0
            }
            index += 2 + length
        }
        return false
    }

    /// The types, in the order of the wire.
    public var types: [RecordType] {
        var (types, index): ([RecordType], Int) = ([], 0)
        while index + 1 < bytes.count {
            let (window, length) = (UInt16(bytes[index]) << 8, Int(bytes[index + 1]))
            for place in 0..<length * 8 where bytes[index + 2 + place / 8] & 0x80 >> UInt8(place % 8) != 0 {
                types.append(RecordType(rawValue: window | UInt16(place)))
            }
            index += 2 + length
        }
        return types
    }
}

extension TypeBitmap: ExpressibleByArrayLiteral {
    /// Creates a bitmap of these types.
    public init(arrayLiteral types: RecordType...) { self.init(types) }
}

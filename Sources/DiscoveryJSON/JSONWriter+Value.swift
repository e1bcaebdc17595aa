extension JSONWriter {
    /// Writes any value. A number with a fraction is written rounded: nothing in the protocol has one.
    public mutating func write(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let truth): bool(truth)
        case .integer(let whole): number(whole)
        case .double(let fraction): number(Int(exactly: fraction.rounded()) ?? 0)
        case .string(let text): string(text)
        case .array(let values):
            array { array in
                for value in values { array.write(value) }
            }
        case .object(let members):
            object { object in
                for member in members {
                    object.key(member.key)
                    object.write(member.value)
                }
            }
        }
    }
}

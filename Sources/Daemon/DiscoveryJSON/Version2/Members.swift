/// Members of an object of version 2, made of one of version 1: what is null there is missing here, and milliseconds become seconds. A value.
struct Members {
    private let old: JSONValue
    private(set) var list: [JSONValue.Member] = []

    init(of old: JSONValue) { self.old = old }

    /// Of these names, as they are.
    init(of old: JSONValue, _ names: String...) {
        self.init(of: old)
        for name in names { add(name, self[name]) }
    }

    var object: JSONValue { .object(list) }

    subscript(name: String) -> JSONValue? { old[name] == .null ? nil : old[name] }

    /// Adds a value; nothing if it is not known.
    mutating func add(_ name: String, _ value: JSONValue?) {
        if let value, value != .null { list.append(.init(name, value)) }
    }

    mutating func add(_ name: String, _ text: String?) { add(name, text.map { JSONValue.string($0) }) }

    /// Takes a member over by another name.
    mutating func keep(_ name: String, as new: String) { add(new, self[name]) }

    /// Takes members over.
    mutating func keep(_ names: String...) { for name in names { add(name, self[name]) } }

    /// Takes a member over as `body` makes it anew.
    mutating func keep(_ name: String, as new: String? = nil, _ body: (JSONValue) -> JSONValue) {
        add(new ?? name, self[name].map(body))
    }

    /// Takes an array over, element by element.
    mutating func each(_ name: String, as new: String? = nil, _ body: (JSONValue) -> JSONValue) {
        keep(name, as: new) { .array(($0.array ?? []).map(body)) }
    }

    /// Takes milliseconds over as seconds.
    mutating func seconds(_ name: String, as new: String) {
        add(new, self[name]?.integer.map { JSONValue.double(Double($0) / 1000) })
    }
}

/// An element of a small XML document. A value.
///
/// Of XML 1.0 it has what configuration files use: elements, attributes, text, comments, and the references that need no declaration. What else a
/// document may have, above all entities of its own, is an error (decision 0052).
package struct XMLElement: Hashable, Sendable {
    /// What is wrong with a document.
    package struct Fault: Error, Hashable, Sendable {
        /// Counts from 1.
        package let line: Int
        /// For people.
        package let reason: String
    }

    /// The largest document, in bytes.
    package static let largest = 64 * 1024
    /// How deep elements may be in each other.
    static let deepest = 8

    /// The name.
    package let name: String
    /// Where it begins; counts from 1.
    package let line: Int
    /// The attributes.
    package internal(set) var attributes: [String: String] = [:]
    /// The elements in it.
    package internal(set) var children: [XMLElement] = []
    /// The text in it, without that of other elements.
    package internal(set) var text = ""

    init(_ name: String, line: Int) {
        self.name = name
        self.line = line
    }

    /// Reads a document in UTF-8.
    package init(document bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= Self.largest else {
            throw Fault(line: 1, reason: "larger than \(Self.largest / 1024) KiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Fault(line: 1, reason: "not UTF-8") }
        var reader = XMLReader(text)
        self = try reader.document()
    }
}

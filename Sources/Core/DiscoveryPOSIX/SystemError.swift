import Libc

/// An `errno` and the operation that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32
    package let what: String?

    package init(_ code: Int32, _ what: String? = nil) {
        self.code = code
        self.what = what
    }

    /// The system's text for an `errno`.
    package static func text(_ code: Int32) -> String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }

    package var description: String { (what.map { "\($0): " } ?? "") + Self.text(code) }
}

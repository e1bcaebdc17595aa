import Foundation

/// A service for inject.py, with any bytes in it.
struct Injected: Encodable {
    struct Bytes: Encodable {
        var b64: Data
        init(_ text: String) { b64 = Data(text.utf8) }
    }

    var instance: Bytes
    var type: String
    var host: String
    var txt: [Bytes]
}

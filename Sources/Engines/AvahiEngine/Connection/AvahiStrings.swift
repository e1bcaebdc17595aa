import CAvahi

/// Texts that libavahi lends, and `AvahiStringList` (avahi-common/strlst.h): a linked list of byte strings, built back to front.
enum AvahiStrings {
    static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }

    /// Copies the strings of a list that was lent to a callback.
    static func bytes(of list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
        var strings: [[UInt8]] = []
        var next = unsafe list
        while let item = unsafe next {
            let size = unsafe avahi_string_list_get_size(item)
            if let text = unsafe avahi_string_list_get_text(item) {
                unsafe strings.append(Array(UnsafeBufferPointer(start: text, count: size)))
            }
            unsafe next = avahi_string_list_get_next(item)
        }
        return strings
    }

    /// Lends `body` a list of `strings`. Each new node goes to the front, and libavahi-client reverses the list when sending, so the
    /// strings keep this order on the wire.
    static func withList<Result>(
        of strings: [[UInt8]], _ body: (UnsafeMutablePointer<AvahiStringList>?) -> Result
    ) -> Result {
        var list: UnsafeMutablePointer<AvahiStringList>?
        for string in strings {
            unsafe string.withUnsafeBufferPointer { buffer in
                unsafe list = avahi_string_list_add_arbitrary(list, buffer.baseAddress, buffer.count)
            }
        }
        defer { unsafe avahi_string_list_free(list) }
        return unsafe body(list)
    }
}

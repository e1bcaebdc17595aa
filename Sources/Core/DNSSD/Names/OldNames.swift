// What these were called before 0.2.

extension ServiceName {
    /// The name, unescaped.
    @available(*, deprecated, renamed: "text")
    public var value: String { text }
}

extension Domain {
    /// The name in escaped presentation form, without a final dot.
    @available(*, deprecated, renamed: "text")
    public var name: String { text }
}

extension HostName {
    /// The name in escaped presentation form, without a final dot.
    @available(*, deprecated, renamed: "text")
    public var name: String { text }
}

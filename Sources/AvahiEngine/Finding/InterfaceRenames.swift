import DiscoverySystem

/// Notices renamed interfaces, which avahi-daemon does not report. A value.
struct InterfaceRenames {
    private var names: [Int32: String]

    init(_ names: [Int32: String] = SystemInterfaces.namesByIndex()) { self.names = names }

    /// Returns the indexes of interfaces renamed since the last call, and remembers the current names.
    mutating func sinceLast(_ new: [Int32: String] = SystemInterfaces.namesByIndex()) -> Set<Int32> {
        defer { names = new }
        return Set(new.filter { index, name in names[index].map { $0 != name } ?? false }.keys)
    }
}

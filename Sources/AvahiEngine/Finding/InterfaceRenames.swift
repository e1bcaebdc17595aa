import System

/// Notices that an interface is called otherwise, which avahi-daemon does not report. A value.
struct InterfaceRenames {
    private var names: [Int32: String]

    init(_ names: [Int32: String] = SystemInterfaces.namesByIndex()) { self.names = names }

    /// The indexes of interfaces that had another name when it was last asked; takes over the current names.
    mutating func sinceLast(_ new: [Int32: String] = SystemInterfaces.namesByIndex()) -> Set<Int32> {
        defer { names = new }
        return Set(new.filter { index, name in names[index].map { $0 != name } ?? false }.keys)
    }
}

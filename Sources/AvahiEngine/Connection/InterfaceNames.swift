import DNSSD
import System

/// The names of the interfaces, to notice a rename, which avahi-daemon does not report. A value.
struct InterfaceNames {
    private var names: [Int32: String]

    init(_ names: [Int32: String] = SystemInterfaces.namesByIndex()) { self.names = names }

    /// Takes over the current names.
    /// - Returns: the indexes of renamed interfaces.
    mutating func became(_ new: [Int32: String] = SystemInterfaces.namesByIndex()) -> Set<Int32> {
        defer { names = new }
        return Set(new.filter { index, name in names[index].map { $0 != name } ?? false }.keys)
    }
}

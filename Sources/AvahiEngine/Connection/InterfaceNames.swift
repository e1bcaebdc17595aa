import DNSSD
import System

/// Tracks interface names to notice renames, which avahi-daemon does not report. A value.
struct InterfaceNames {
    private var names: [Int32: String]

    init(_ names: [Int32: String] = SystemInterfaces.namesByIndex()) { self.names = names }

    /// Adopts the current names.
    /// - Returns: the indexes of renamed interfaces.
    mutating func became(_ new: [Int32: String] = SystemInterfaces.namesByIndex()) -> Set<Int32> {
        defer { names = new }
        return Set(new.filter { index, name in names[index].map { $0 != name } ?? false }.keys)
    }
}

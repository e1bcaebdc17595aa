import DNSSD

/// The names of the interfaces, to notice that one has another: avahi-daemon says nothing of that. A value.
struct InterfaceNames {
    private var names: [Int32: String]

    init(_ names: [Int32: String] = SystemInterfaces.namesByIndex()) { self.names = names }

    /// Takes over the names that hold now.
    /// - Returns: the indexes of those that had another one.
    mutating func became(_ new: [Int32: String] = SystemInterfaces.namesByIndex()) -> Set<Int32> {
        defer { names = new }
        return Set(new.filter { index, name in names[index].map { $0 != name } ?? false }.keys)
    }
}

extension NetworkInterface {
    /// What is heard there is of this machine. Linux has one, and its name is fixed (drivers/net/loopback.c).
    var isLoopback: Bool { name == "lo" }
}

import CProcessStart

/// The resources that a program needs beyond those it starts with.
public struct ProcessNeeds: Sendable {
    private let need: cprocessstart_need

    /// - Parameters:
    ///   - descriptors: how many it must be able to open.
    ///   - threads: in addition to one per processor.
    ///   - mebibytes: of address space, not counting thread stacks.
    public init(descriptors: Int32, threads: Int32, mebibytes: Int) {
        need = cprocessstart_need(descriptors: descriptors, threads: threads, space: mebibytes << 20)
    }

    /// Call this first in `main`. If /proc is missing, or this process's limits are too low, it reports why and exits with status 71.
    /// Without this check, Swift's runtime would later trap or hang silently.
    public func require(of program: String) { unsafe cprocessstart(program, need) }
}

import CProcessStart

/// What a program needs of the system beyond what it has when it begins.
public struct ProcessNeeds: Sendable {
    private let need: cprocessstart_need

    /// - Parameters:
    ///   - descriptors: that can be opened.
    ///   - threads: beyond one for each processor.
    ///   - mebibytes: of address space beyond the stacks of the threads.
    public init(descriptors: Int32, threads: Int32, mebibytes: Int) {
        need = cprocessstart_need(descriptors: descriptors, threads: threads, space: mebibytes << 20)
    }

    /// To be called first thing in `main`: where there is no /proc, or the limits of this process leave less than it needs, it says
    /// why and ends the process with status 71. Without it Swift's runtime would trap or hang later, without a word.
    public func require(of program: String) { unsafe cprocessstart(program, need) }
}

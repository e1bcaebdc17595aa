import Glibc

/// The signals that end a command: blocked in every thread, and taken one by one by a thread that waits for them.
public struct SignalSet: Sendable {
    /// A signal as it came.
    public struct Signal: Sendable {
        /// Its number.
        public let number: Int32
        /// Sent by the terminal to the whole process group, so that a child has it already.
        public let isFromTerminal: Bool
    }

    private var set = sigset_t()

    /// SIGTERM, and SIGINT and SIGHUP unless the parent ignores them (`nohup`, a background job of a script): a blocked signal
    /// would be delivered even so.
    public static func ending() -> SignalSet {
        SignalSet([SIGTERM, SIGINT, SIGHUP].filter { $0 == SIGTERM || !isIgnored($0) })
    }

    /// Just these signals, whether or not the parent ignores them: the system keeps a blocked one even so.
    public init(_ numbers: [Int32]) {
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
    }

    /// Blocks the signals in this thread and all that it starts.
    public func block() {
        var set = set
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks the thread until a signal comes.
    /// - Returns: nil when none came within `limit`.
    public func next(within limit: Duration?) -> Signal? {
        var set = set
        var info = unsafe siginfo_t()
        while true {
            var time = timespec()
            if let limit {
                time = timespec(
                    tv_sec: Int(limit.components.seconds),
                    tv_nsec: Int(limit.milliseconds % 1000) * 1_000_000
                )
            }
            let number = limit == nil ? unsafe sigwaitinfo(&set, &info) : unsafe sigtimedwait(&set, &info, &time)
            // SI_KERNEL, 0x80 in <asm-generic/siginfo.h>: the terminal's driver sent it.
            if number > 0 { return unsafe Signal(number: number, isFromTerminal: info.si_code == 0x80) }
            if errno == EAGAIN { return nil }
        }
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        // SIG_IGN, ((__sighandler_t) 1) in <bits/signum-generic.h>, is not imported.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}

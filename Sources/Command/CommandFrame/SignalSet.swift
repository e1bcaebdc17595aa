import Libc

/// Signals that end a command. They are blocked in every thread, and one thread waits for them.
public struct SignalSet: Sendable {
    /// A received signal.
    public struct Signal: Sendable {
        /// The signal's number.
        public let number: Int32
        /// The terminal sent it to the whole process group, so a child has received it too.
        public let isFromTerminal: Bool
    }

    private var set = sigset_t()

    /// SIGTERM, and SIGINT and SIGHUP unless the parent ignores them (`nohup`, background jobs of scripts): once blocked, even an ignored
    /// signal would be delivered.
    public static func ending() -> SignalSet {
        SignalSet([SIGTERM, SIGINT, SIGHUP].filter { $0 == SIGTERM || !isIgnored($0) })
    }

    /// Exactly these signals, even those that the parent ignores: the system queues a blocked signal all the same.
    public init(_ numbers: [Int32]) {
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
    }

    /// Blocks the signals in this thread and in all threads it starts.
    public func block() {
        var set = set
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks the thread until a signal arrives.
    /// - Returns: nil if none arrives within `limit`.
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

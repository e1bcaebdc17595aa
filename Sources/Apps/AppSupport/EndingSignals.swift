import Glibc

/// The signals that end a program: blocked in every thread, and waited for by one.
struct EndingSignals {
    private var set = sigset_t()

    /// SIGTERM, and SIGINT and SIGHUP unless the parent ignores them (`nohup`, a background job of a script).
    init() {
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP] where signal == SIGTERM || !Self.isIgnored(signal) {
            sigaddset(&set, signal)
        }
    }

    /// Blocks them in this thread and all that it starts.
    func block() {
        var set = set
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks the thread until one comes, or for `seconds`.
    func wait(atMost seconds: Int? = nil) {
        var set = set
        var limit = timespec(tv_sec: seconds ?? 0, tv_nsec: 0)
        while true {
            let signal = seconds == nil ? sigwaitinfo(&set, nil) : sigtimedwait(&set, nil, &limit)
            if signal > 0 || errno == EAGAIN { return }
        }
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        // SIG_IGN, ((__sighandler_t) 1) in <bits/signum-generic.h>, is not imported.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}

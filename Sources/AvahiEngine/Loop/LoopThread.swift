import CAvahi
import Glibc

/// Starts a detached thread of the operating system with every signal blocked, so that signals reach the program's own threads.
///
/// - Returns: whether the thread was started.
func startThread(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    final class Box {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { unsafe pthread_attr_destroy(&attributes) }

    var thread = pthread_t()
    let box = unsafe Unmanaged.passRetained(Box(name: name, body: body))
    let result = unsafe pthread_create(
        &thread, &attributes,
        { raw in
            guard let raw = unsafe raw else { return nil }
            let box = unsafe Unmanaged<Box>.fromOpaque(raw).takeRetainedValue()
            unsafe cavahi_name_thread(box.name)
            box.body()
            return nil
        }, box.toOpaque())
    guard result == 0 else {
        unsafe box.release()
        return false
    }
    return true
}

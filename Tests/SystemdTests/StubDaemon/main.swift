// A daemon that is no more than what a service manager sees of one.

import DaemonSupport
import Glibc

func log(_ text: String) {
    let line = text + "\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
}

func load() -> DaemonConfiguration? {
    do throws(ConfigurationError) {
        return try DaemonConfiguration.load(directory: "/etc/discoverd")
    } catch {
        log("<3>\(error)")
        manager.status("configuration: \(error)")
        return nil
    }
}

/// Answers whatever is asked with the number of services; there is no second client.
func answer(_ listener: Int32, _ configuration: DaemonConfiguration) {
    let client = accept(listener, nil, nil)
    guard client >= 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 4096)
    _ = recv(client, &buffer, buffer.count, 0)
    let body = "{\"v\":1,\"pid\":\(getpid()),\"services\":\(configuration.services.count)}\n"
    let text = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n" + body
    _ = send(client, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    close(client)
}

let manager = ServiceManager.fromEnvironment()
for warning in manager.warnings { log("<4>\(warning)") }
var signals = sigset_t()
sigemptyset(&signals)
for signal in [SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
sigprocmask(SIG_BLOCK, &signals, nil)
guard var configuration = load() else { exit(78) }
guard let socket = manager.inheritedSockets.first(where: { $0.name == "control" }) else {
    log("<3>no control socket was passed")
    exit(64)
}
log("<6>stub: socket \(socket.address), watchdog \(manager.watchdogInterval.map { "\($0)" } ?? "off")")
manager.status("stub")
manager.ready()
while true {
    manager.keepAlive()
    var list = [pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)]
    if poll(&list, 1, 100) > 0 { answer(socket.descriptor, configuration) }
    var none = timespec()
    switch sigtimedwait(&signals, nil, &none) {
    case SIGTERM:
        manager.stopping()
        log("<6>stub: stopped")
        exit(0)
    case SIGHUP:
        manager.reloading()
        if let new = load() {
            configuration = new
            manager.status("stub: \(new.services.count) services")
        }
        manager.ready()
    default: break
    }
}

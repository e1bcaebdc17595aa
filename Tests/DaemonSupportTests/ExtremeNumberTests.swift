import DiscoveryTesting
import Testing

@testable import DiscoveryDaemon

/// Every number in the configuration and the environment, at its extremes.
@Suite struct ExtremeNumberTests {
    @Test(arguments: [
        "listen: #", "listen: \"127.0.0.1:#\"", "listen: \"[::1]:#\"", "dns: \"127.0.0.1:#\"", "limits: {clients: #}",
        "limits: {clients-per-user: #}", "limits: {request-bytes: #}", "limits: {watch-queue-bytes: #}",
        "limits: {services-per-user: #}", "limits: {services-of-root: #}",
        "services: [{name: a, type: _xx._tcp, port: #}]",
        "services: [{name: a, type: _xx._tcp, port: 1, check: 'pid:#'}]",
        "services: [{name: a, type: _xx._tcp, port: 1, check: {what: tcp, interval: #}}]",
        "services: [{name: a, type: _xx._tcp, port: 1, check: {what: tcp, interval: #ms}}]",
        "services: [{name: a, type: _xx._tcp, port: 1, check: {what: tcp, interval: #h}}]",
        "services: [{name: a, type: _xx._tcp, port: 1, check: {what: tcp, timeout: #}}]",
        "services: [{name: a, type: _xx._tcp, port: 1, check: {what: tcp, rise: #}}]",
        "services: [{name: a, type: _xx._tcp, port: 1, check: {what: tcp, fall: #}}]",
        "access: {group: '#'}", "access: {allow: [{user: '#', types: '*'}]}",
    ]) func ofTheConfiguration(_ text: String) throws {
        let directory = try ConfigurationDirectory()
        var taken = 0
        for number in ExtremeNumbers.all {
            try directory.write("discoverd.yaml", Array(text.replacing("#", with: number).utf8))
            guard let fault = directory.fault() else {
                taken += 1
                continue
            }
            #expect(fault.hasPrefix("discoverd.yaml:1: "), "\(number)")
        }
        #expect(taken > 0)
    }

    @Test func ofTheEnvironment() {
        for text in ExtremeNumbers.all {
            let manager = ServiceManager(
                environment: ["WATCHDOG_USEC": text, "WATCHDOG_PID": "42"], process: 42, firstDescriptor: 500)
            if let interval = manager.watchdogInterval {
                #expect(interval > .zero && interval <= .seconds(3600), "\(text): \(interval)")
            }
            for environment in [
                ["LISTEN_PID": "42", "LISTEN_FDS": text], ["LISTEN_PID": text, "LISTEN_FDS": "1"],
                ["WATCHDOG_USEC": "1000", "WATCHDOG_PID": text],
            ] {
                // No descriptors are open at these numbers.
                let manager = ServiceManager(environment: environment, process: 42, firstDescriptor: 500)
                #expect(manager.inheritedSockets.isEmpty && manager.warnings.count <= 64)
            }
        }
    }
}

import Foundation
import Testing

@testable import DiscoveryDaemon

@Suite struct ConfigurationStampTests {
    @Test("a change is due once, when it has been the same for two looks; what was taken over otherwise is none")
    func settled() {
        var change = SettledChange(1)
        let looks = [1, 2, 3, 3, 3, 1, 1, 1].map { change.isDue($0) }
        #expect(looks == [false, false, false, true, false, false, true, false])
        change.take(7)
        let after = [7, 7, 8, 7, 7].map { change.isDue($0) }
        #expect(after == [false, false, false, false, false])
    }

    @Test("another content, another file, a new one and a missing one are changes; other directories are not looked at")
    func stamps() throws {
        let directory = try ConfigurationDirectory(["discoverd.yaml": "log-level: info\n"])
        let place = ConfigurationPlace(directory: directory.path, mustExist: true)
        var seen = [ConfigurationStamp(place)]
        #expect(ConfigurationStamp(place) == seen[0])
        for (name, text) in [
            ("discoverd.yaml", "log-level: debug\n"), ("services.d/a.yaml", "{name: a, type: _http._tcp, port: 1}"),
        ] {
            try directory.write(name, Array(text.utf8))
            seen.append(ConfigurationStamp(place))
        }
        // The same size and the same time of writing, but another file.
        let file = directory.path + "/services.d/a.yaml"
        try FileManager.default.copyItem(atPath: file, toPath: file + ".new")
        _ = rename(file + ".new", file)
        seen.append(ConfigurationStamp(place))
        try FileManager.default.removeItem(atPath: file)
        seen.append(ConfigurationStamp(place))
        #expect(Set(seen).count == 4 && seen[4] == seen[1])
        try directory.write("services.d/.hidden.yaml", [])
        try directory.write("services.d/readme.txt", [])
        #expect(ConfigurationStamp(place) == seen[4])
    }
}

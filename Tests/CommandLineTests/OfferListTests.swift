#if Commands
import DNSSD
import Foundation
import Testing

@testable import DiscoverdCommands

@Suite("What is published from here, as status --services lists it") struct OfferListTests {
    @Test("a file of avahi-daemon may have a type twice, as for each family: both stay apart")
    func twice() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "offers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let services = [("ipv4", 80), ("ipv6", 8080)].map { family, port in
            "<service protocol='\(family)'><type>_http._tcp</type><port>\(port)</port></service>"
        }
        let group = "<service-group><name>a</name>\(services.joined())</service-group>"
        try group.write(to: folder.appending(path: "a.service"), atomically: true, encoding: .utf8)
        let files = AvahiServiceFiles(in: folder.path, host: "h1")
        #expect(files.faults.isEmpty && files.services.map(\.offered.port.rawValue) == [80, 8080])
        #expect(Set(files.services.map { ListedOffer.file($0).id }).count == 2)
    }
}
#endif

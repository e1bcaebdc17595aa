import Foundation
import Testing

/// The pictures of README, of a home as it may be.
@Suite("pictures of the page", .labSlot)
struct PagePictureTests {
    private static let devices: [(name: String, type: String, host: String, txt: [String])] = [
        ("Attic", "_http._tcp", "nas", ["path=/admin"]), ("Kitchen radio", "_http._tcp", "radio", []),
        ("Weather station", "_http._tcp", "weather", ["path=/now", "model=WS-2"]),
        ("Laser printer", "_ipp._tcp", "printer", ["rp=ipp/print", "ty=Laser 400", "Color=F", "Duplex=T"]),
        ("Photo printer", "_ipp._tcp", "photo", ["rp=ipp/print", "ty=Photo 10", "Color=T"]),
        ("nas", "_ssh._tcp", "nas", []), ("nas", "_smb._tcp", "nas", []), ("workshop", "_ssh._tcp", "workshop", []),
        ("Living room", "_airplay._tcp", "tv", ["model=TV5,3", "features=0x4A7FFFF7"]),
        ("Living room", "_googlecast._tcp", "tv", ["fn=Living room", "md=TV"]),
        ("Hallway lamp", "_hap._tcp", "lamp", ["md=Lamp", "ci=5", "sf=0"]),
        ("Büro Kamera", "_rtsp._tcp", "camera", []), ("tony", "_witap._tcp", "workshop", ["path=/x"]),
    ]

    @Test("light, dark and on a phone, without a line that is too wide", .onlyInAll)
    func pictures() async throws {
        let lab = try await Lab.start()
        let injector = try await lab.inject("h1", try Self.json())
        let page = try await ShownPage.start(on: "h2", of: lab, "--no-daemon")
        let browser = try await LabBrowser.start(on: "h2", of: lab)
        try await browser.size(1280, 800)
        try await browser.open(page.url)
        let resolved = "document.querySelectorAll('li.service[data-state=resolved]').length"
        try await browser.until("\(resolved) === \(Self.devices.count)")
        // What comes after the first list is new.
        try await browser.until("document.documentElement.dataset.drawn")
        let publisher = try await lab.publish(
            "h1", "Guest tablet", "8080", "--type", "_http._tcp", "--txt", "path=/hello")
        try await browser.until("document.querySelector('.mark.new')")
        try await browser.until("document.getAnimations().length === 0")
        try await browser.picture("page")
        try await browser.size(1280, 800, isDark: true)
        try await browser.value("\(LabBrowser.row("Laser printer")).querySelector('.name').click()")
        try await publisher.stop()
        try await browser.until("document.querySelector('li.service[data-state=gone]')")
        try await browser.until("document.getAnimations().length === 0")
        try await browser.picture("page-dark")
        try await browser.size(360, 740, scale: 2, isPhone: true)
        try await browser.until("innerWidth === 360")
        #expect(try await browser.number("document.documentElement.scrollWidth") <= 360)
        try await browser.picture("page-phone")
        #expect(try await browser.problems(of: page.origin) == [])
        try await browser.end()
        try await page.stop()
        try await injector.stop()
        try await lab.stop()
    }

    private static func json() throws -> String {
        let services: [[String: Any]] = devices.enumerated().map { number, device in
            [
                "instance": device.name, "type": device.type, "host": device.host, "txt": device.txt,
                "port": device.type == "_ssh._tcp" ? 22 : 8000 + number,
                "addresses": ["10.77.0.\(100 + device.host.utf8.reduce(0) { ($0 &* 7 &+ Int($1)) % 97 })"],
            ]
        }
        let types: [[String: Any]] = Set(devices.map(\.type)).map { type in
            ["name": "_services._dns-sd._udp.local", "type": "PTR", "target": "\(type).local", "ttl": 4500]
        }
        let input: [String: Any] = ["services": services, "records": types]
        return String(decoding: try JSONSerialization.data(withJSONObject: input), as: UTF8.self)
    }
}

import Foundation
import Testing

/// `discoverd show` and the daemon's TCP address in Chromium.
@Suite("the page in a browser", .labSlot, .serialized)
struct PageTests {
    static let lab = Task { try await Lab.start() }

    @Test("services come, change and go while one looks; the link's token counts once")
    func live() async throws {
        let lab = try await Self.lab.value
        let page = try await ShownPage.start(on: "h2", of: lab, "--no-daemon")
        let browser = try await LabBrowser.start(on: "h2", of: lab)
        try await browser.size(1280, 800)
        try await browser.open(page.url)
        try await browser.until("document.documentElement.dataset.drawn && document.title === 'discoverd'")
        #expect(try await browser.text("location.hash") == "", "the token is not left in the address bar")
        #expect(try await browser.text("document.cookie") == "")

        let publisher = try await lab.publish(
            "h1", "Tony's site", "8080", "--type", "_http._tcp", "--txt", "path=/a b", "--txt", "note=x")
        let row = LabBrowser.row("Tony's site")
        try await browser.until("\(row)?.querySelector('.mark.new') && \(row).querySelector('a')")
        #expect(try await browser.text("\(row).querySelector('a').href") == "http://10.77.0.1:8080/a%20b")
        let heading = "\(row)?.closest('section').querySelector('h2').textContent"
        #expect(try await browser.text(heading).contains("Web site"))
        let command = try await browser.text("\(row).querySelector('.copy').dataset.command")
        #expect(command == "curl http://10.77.0.1:8080/a%20b")
        let text = try await browser.text("\(row).innerText")
        for part in ["10.77.0.1", "h1.local:8080", "path=/a b", "note=x", "eth0", "since"] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        try await browser.value("\(row).querySelector('.name').click()")
        try await browser.until("\(row).querySelector('.details')?.innerText.includes('discoverd resolve $')")

        try await browser.type("no such thing", at: "#search")
        try await browser.until("\(LabBrowser.shown) === 0 && !document.getElementById('empty').hidden")
        try await browser.type("\u{E00C}", at: "#search")
        try await browser.until("\(LabBrowser.shown) > 0")
        try await browser.click("input[value=host]")
        try await browser.until("\(heading).includes('h1.local')")
        try await publisher.stop()
        try await browser.until("\(row)?.dataset.state === 'gone' && !\(row).querySelector('a')")
        try await browser.until("document.querySelector('#graph svg').ariaLabel.includes('1 service went')")

        // A reload has the key already; another window has not, and the token is spent.
        try await browser.open("about:blank")
        try await browser.open(page.origin + "/")
        try await browser.until("document.documentElement.dataset.drawn")
        #expect(try await browser.problems(of: page.origin) == [])
        try await browser.openWindow()
        try await browser.open(page.url)
        try await browser.until("document.getElementById('notice').innerText.includes('discoverd show')")
        #expect(try await browser.number("document.querySelectorAll('li.service').length") == 0)
        try await browser.end()
        try await page.stop()
    }

    @Test("a daemon that dies: the page says so, and goes on without it; nothing goes meanwhile")
    func daemonGone() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h2", of: lab)
        let publisher = try await lab.publish("h1", "Tony's site", "8080", "--type", "_http._tcp")
        let page = try await ShownPage.start(on: "h2", of: lab)
        let browser = try await LabBrowser.start(on: "h2", of: lab)
        try await browser.open(page.url)
        let row = LabBrowser.row("Tony's site")
        let pill = "document.getElementById('connection')"
        try await browser.until("\(row) && \(pill).dataset.state === 'live'")
        try daemon.process.signal(SIGKILL)
        try await browser.until(
            "\(pill).dataset.state === 'lost' && \(pill).textContent.includes('Not live')", within: 5)
        try await browser.until("\(pill).dataset.state === 'live'", within: 20)
        let late = try await lab.publish("h1", "Late", "8081", "--type", "_http._tcp")
        try await browser.until("\(LabBrowser.row("Late"))")
        #expect(try await browser.text("\(row).dataset.state ?? ''") != "gone")
        #expect(
            try await browser.text("document.querySelector('#graph svg')?.ariaLabel ?? ''").contains("1 service went")
                == false)
        try await late.stop()
        try await browser.until("\(LabBrowser.row("Late"))?.dataset.state === 'gone'")
        try await browser.end()
        try await page.stop()
        try await publisher.stop()
        try await lab.stop()
    }

    @Test("without the key nothing is answered but the page's files; foreign hosts and origins never")
    func keys() async throws {
        let lab = try await Self.lab.value
        let page = try await ShownPage.start(on: "h2", of: lab, "--no-daemon")
        let token = page.url.components(separatedBy: "#")[1]
        func curl(_ target: String, _ options: String...) async throws -> String {
            let arguments = ["/usr/bin/curl", "-s", "--max-time", "5", "-o", "/dev/null", "-w", "%{http_code}"]
            let url = "\(page.origin)/\(target)"
            let run = try await lab.toEnd("h2", arguments + options + [url], within: .seconds(20))
            return run.output.last ?? ""
        }
        let bearer = "Authorization: Bearer \(token)"
        #expect(try await curl("") == "200")
        #expect(try await curl("", "-H", "Host: evil.example") == "403", "DNS rebinding")
        #expect(try await curl("", "-H", "Sec-Fetch-Site: cross-site") == "403")
        for file in ["", "app.js", "style.css", "icon.svg"] {
            let run = try await lab.toEnd(
                "h2", ["/usr/bin/curl", "-s", "-I", "\(page.origin)/\(file)"], within: .seconds(20))
            let head = run.output.joined(separator: "\n").lowercased()
            for field in [
                "x-content-type-options: nosniff", "x-frame-options: deny", "referrer-policy: no-referrer",
                "default-src 'none'; script-src 'self'", "trusted-types 'none'",
            ] { #expect(head.contains(field), "\(field) of /\(file): \(head)") }
        }
        #expect(try await curl("v1/services") == "401")
        #expect(try await curl("v1/services", "-H", bearer) == "401", "the token is no key")
        #expect(try await curl("session", "-X", "POST", "-H", "Authorization: Bearer \(token)x") == "403")
        #expect(try await curl("session", "-X", "POST", "-H", bearer, "-H", "Origin: http://evil.example") == "403")
        #expect(try await curl("session", "-X", "POST", "-H", bearer, "-H", "Host: evil.example") == "403")
        #expect(try await curl("session", "-X", "POST", "-H", bearer) == "200")
        #expect(try await curl("session", "-X", "POST", "-H", bearer) == "403", "once")
        #expect(try await curl("v1/registrations", "-X", "POST", "-d", "{}") == "401")
        try await page.stop()
    }

    @Test("with a daemon: what it publishes with reasons, how it is, and what doctor finds")
    func panels() async throws {
        let lab = try await Lab.start()
        let configuration = """
            listen: 127.0.0.1:9331
            services:
              - {name: kept, port: 80, type: _http._tcp}
              - {name: sick, port: 9, type: _ssh._tcp, check: tcp}

            """
        let daemon = try await LabDaemon.start(on: "h2", of: lab, configuration)
        let page = try await ShownPage.start(on: "h2", of: lab)
        let browser = try await LabBrowser.start(on: "h2", of: lab)
        try await browser.size(1280, 800)
        try await browser.open(page.url)
        try await browser.until("document.querySelector('li.service')?.innerText.includes('kept')")
        try await browser.click("#tab-registrations")
        let registrations = "document.getElementById('registrations').innerText"
        try await browser.until("\(registrations).includes('published') && \(registrations).includes('failing')")
        #expect(try await browser.text(registrations).contains("tcp"))
        try await browser.picture("page-registrations")
        // Arrows go from tab to tab.
        try await browser.type("\u{E014}", at: "#tab-registrations")
        try await browser.until("document.getElementById('backend').innerText.includes('publishes')")
        try await browser.click("#tab-doctor")
        try await browser.until("document.querySelectorAll('#doctor tbody tr').length > 3", within: 60)
        #expect(try await browser.text("document.getElementById('doctor').innerText").contains("passed"))
        #expect(try await browser.problems(of: page.origin) == [])

        // The daemon's own address: no doctor, no reasons, no key.
        try await browser.open("http://127.0.0.1:9331/")
        try await browser.until("document.querySelector('li.service')?.innerText.includes('kept')")
        #expect(try await browser.value("document.getElementById('tab-doctor').hidden") as? Bool == true)
        try await browser.click("#tab-registrations")
        try await browser.until("\(registrations).includes('published')")
        #expect(try await !browser.text(registrations).contains("Reason"))
        #expect(try await browser.problems(of: "http://127.0.0.1:9331") == [])
        try await browser.end()
        try await page.stop()
        try await daemon.stop()
        try await lab.stop()
    }
}

internal import DiscoveryJSON

/// A file of the page. All are in the program (`.embedInCode` of Package.swift), so that no sandbox and no installation can lose them
/// (docs/decisions/0044-a-page.md).
package struct PageFile: Sendable {
    /// Its media type.
    package let type: String
    package let bytes: [UInt8]

    private init(_ type: String, _ bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }

    /// The file that a path names; nil if there is none.
    package static func at(_ path: [String]) -> PageFile? {
        path.count > 1 ? nil : files[path.first ?? "index.html"]
    }

    private static let markup = "text/html; charset=utf-8"
    private static let style = "text/css; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"
    private static let picture = "image/svg+xml"

    /// What people call types, as `const names = {"_http._tcp":"Web site"};`
    private static var typeNames: [UInt8] {
        var json = JSONWriter()
        json.object { object in
            for known in KnownType.all { object.member(known.type, known.title) }
        }
        return Array("const names = ".utf8) + json.bytes + Array(";\n".utf8)
    }

    private static let files: [String: PageFile] = [
        "index.html": PageFile(markup, PackageResources.index_html),
        "style.css": PageFile(style, PackageResources.style_css),
        "list.css": PageFile(style, PackageResources.list_css),
        "icon.svg": PageFile(picture, PackageResources.icon_svg),
        // For who asks for it without having read the page.
        "favicon.ico": PageFile(picture, PackageResources.icon_svg),
        "app.js": PageFile(script, PackageResources.app_js),
        "commands.js": PageFile(script, PackageResources.commands_js),
        "dom.js": PageFile(script, PackageResources.dom_js),
        "graph.js": PageFile(script, PackageResources.graph_js),
        "list.js": PageFile(script, PackageResources.list_js),
        "panels.js": PageFile(script, PackageResources.panels_js),
        "row.js": PageFile(script, PackageResources.row_js),
        "services.js": PageFile(script, PackageResources.services_js),
        "session.js": PageFile(script, PackageResources.session_js),
        "stream.js": PageFile(script, PackageResources.stream_js),
        "tabs.js": PageFile(script, PackageResources.tabs_js),
        "types.js": PageFile(script, typeNames + PackageResources.types_js),
        "words.js": PageFile(script, PackageResources.words_js),
    ]
}

extension ControlAnswer {
    static func file(_ file: PageFile) -> ControlAnswer {
        .whole(status: 200, type: file.type, body: file.bytes)
    }

    /// What the page may expect of its server.
    /// - Parameters:
    ///   - session: it wants the key of a session.
    ///   - doctor: it answers what `discoverd doctor` finds.
    ///   - daemon: there is a daemon, which may publish services.
    static func pageFacts(session: Bool, doctor: Bool, daemon: Bool) -> ControlAnswer {
        .json { object in
            object.member("session", session)
            object.member("doctor", doctor)
            object.member("daemon", daemon)
        }
    }

    /// What a browser may do with an answer of this type, beyond what every answer says.
    static func policy(of type: String) -> [(name: String, value: String)] {
        guard
            type.hasPrefix("text/html") || type.hasPrefix("text/css") || type.hasPrefix("text/javascript")
                || type.hasPrefix("image/")
        else { return [] }
        return [
            ("Content-Security-Policy", contentPolicy), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-cache"),
        ]
    }

    /// Its own files and requests, nothing else; and no markup from text (Trusted Types).
    private static let contentPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
        """
}

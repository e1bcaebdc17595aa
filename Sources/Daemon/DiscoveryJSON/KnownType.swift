/// Service types that people meet, with names for people and the ports that their programs listen on (IANA, "Service Name and Transport Protocol
/// Port Number Registry"; Apple, "Bonjour Overview"). A value.
package struct KnownType: Hashable, Sendable {
    /// The type, as `_http._tcp`.
    package let type: String
    /// What people call such a service, as "Web site".
    package let title: String
    /// Ports on which it usually listens; the first that names a port wins.
    package let ports: [UInt16]

    private init(_ type: String, _ title: String, _ ports: UInt16...) {
        (self.type, self.title, self.ports) = (type, title, ports)
    }

    /// The entry of a type, whatever the case of its letters; nil for one that is not in the table.
    package static func of(_ type: String) -> KnownType? { byType[type.lowercased()] }

    /// The type that a port suggests; nil for none.
    package static func suggested(by port: UInt16) -> KnownType? { byPort[port] }

    private static let byType = Dictionary(all.map { ($0.type, $0) }) { first, _ in first }
    private static let byPort = Dictionary(all.flatMap { entry in entry.ports.map { ($0, entry) } }) { first, _ in first
    }

    /// Every entry, the more usual first where two have one port.
    package static let all = [
        KnownType("_http._tcp", "Web site", 80, 8000, 8008, 8080, 8888),
        KnownType("_https._tcp", "Secure web site", 443, 8443),
        KnownType("_ssh._tcp", "Remote login", 22),
        KnownType("_sftp-ssh._tcp", "File transfer over SSH"),
        KnownType("_ftp._tcp", "File transfer", 21),
        KnownType("_telnet._tcp", "Telnet", 23),
        KnownType("_smb._tcp", "Windows file sharing", 445, 139),
        KnownType("_afpovertcp._tcp", "Apple file sharing", 548),
        KnownType("_nfs._tcp", "Network file system", 2049),
        KnownType("_webdav._tcp", "WebDAV folder"),
        KnownType("_webdavs._tcp", "Secure WebDAV folder"),
        KnownType("_rsync._tcp", "Rsync", 873),
        KnownType("_adisk._tcp", "Time Machine disk"),
        KnownType("_ipp._tcp", "Printer", 631),
        KnownType("_ipps._tcp", "Secure printer"),
        KnownType("_printer._tcp", "Printer (LPR)", 515),
        KnownType("_pdl-datastream._tcp", "Printer (raw port)", 9100),
        KnownType("_scanner._tcp", "Scanner"),
        KnownType("_uscan._tcp", "Scanner (eSCL)"),
        KnownType("_uscans._tcp", "Secure scanner (eSCL)"),
        KnownType("_airplay._tcp", "AirPlay receiver"),
        KnownType("_raop._tcp", "AirPlay speaker"),
        KnownType("_googlecast._tcp", "Chromecast", 8009),
        KnownType("_spotify-connect._tcp", "Spotify Connect"),
        KnownType("_daap._tcp", "Music library", 3689),
        KnownType("_sonos._tcp", "Sonos player"),
        KnownType("_mpd._tcp", "Music Player Daemon", 6600),
        KnownType("_rtsp._tcp", "Video stream", 554),
        KnownType("_hap._tcp", "HomeKit accessory"),
        KnownType("_matter._tcp", "Matter device"),
        KnownType("_matterc._udp", "Matter device to be set up"),
        KnownType("_home-assistant._tcp", "Home Assistant", 8123),
        KnownType("_esphomelib._tcp", "ESPHome device", 6053),
        KnownType("_shelly._tcp", "Shelly device"),
        KnownType("_hue._tcp", "Hue bridge"),
        KnownType("_mqtt._tcp", "MQTT broker", 1883),
        KnownType("_secure-mqtt._tcp", "Secure MQTT broker", 8883),
        KnownType("_coap._udp", "CoAP device", 5683),
        KnownType("_prometheus-http._tcp", "Prometheus target", 9090, 9100),
        KnownType("_rfb._tcp", "Screen sharing (VNC)", 5900),
        KnownType("_rdp._tcp", "Remote desktop", 3389),
        KnownType("_workstation._tcp", "Computer"),
        KnownType("_device-info._tcp", "Device information"),
        KnownType("_sip._udp", "Telephone (SIP)", 5060),
        KnownType("_xmpp-client._tcp", "Chat server (XMPP)", 5222),
        KnownType("_presence._tcp", "Chat on the link (XMPP)", 5298),
        KnownType("_domain._udp", "DNS server", 53),
        KnownType("_ntp._udp", "Time server", 123),
        KnownType("_ldap._tcp", "Directory (LDAP)", 389),
        KnownType("_imap._tcp", "Mail (IMAP)", 143),
        KnownType("_smtp._tcp", "Mail transfer (SMTP)", 25),
        KnownType("_git._tcp", "Git repositories", 9418),
        KnownType("_postgresql._tcp", "PostgreSQL database", 5432),
        KnownType("_mysql._tcp", "MySQL database", 3306),
        KnownType("_redis._tcp", "Redis", 6379),
        KnownType("_irc._tcp", "Chat server (IRC)", 6667),
        KnownType("_companion-link._tcp", "Apple Companion"),
        KnownType("_sleep-proxy._udp", "Sleep proxy"),
        KnownType("_distcc._tcp", "Compile server (distcc)", 3632),
        KnownType("_lanchat._tcp", "Chat room (lanchat)"),
        KnownType("_filedrop._tcp", "File drop (filedrop)"),
    ]
}

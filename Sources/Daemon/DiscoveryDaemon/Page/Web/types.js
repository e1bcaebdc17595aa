// What service types are called, and which of them a browser or the desktop can open. Values only.

const names = {
  "_witap._tcp": "WiTap", "_http._tcp": "Web site", "_https._tcp": "Web site (TLS)", "_ssh._tcp": "Remote login (SSH)",
  "_sftp-ssh._tcp": "Files (SFTP)", "_ftp._tcp": "Files (FTP)", "_smb._tcp": "Files (SMB)", "_nfs._tcp": "Files (NFS)",
  "_afpovertcp._tcp": "Files (AFP)", "_webdav._tcp": "Files (WebDAV)", "_webdavs._tcp": "Files (WebDAV, TLS)",
  "_adisk._tcp": "Backup disk", "_ipp._tcp": "Printer (IPP)", "_ipps._tcp": "Printer (IPP, TLS)",
  "_printer._tcp": "Printer (LPD)", "_pdl-datastream._tcp": "Printer (raw)", "_uscan._tcp": "Scanner",
  "_uscans._tcp": "Scanner (TLS)", "_scanner._tcp": "Scanner", "_rfb._tcp": "Screen (VNC)", "_rdp._tcp": "Screen (RDP)",
  "_telnet._tcp": "Remote login (Telnet)", "_workstation._tcp": "Workstation", "_device-info._tcp": "Device information",
  "_airplay._tcp": "AirPlay", "_raop._tcp": "AirPlay sound", "_googlecast._tcp": "Google Cast",
  "_spotify-connect._tcp": "Spotify Connect", "_sonos._tcp": "Sonos", "_mpd._tcp": "Music player (MPD)",
  "_daap._tcp": "Music (DAAP)", "_rtsp._tcp": "Video (RTSP)", "_hap._tcp": "HomeKit accessory", "_hue._tcp": "Hue bridge",
  "_matter._tcp": "Matter device", "_matterc._udp": "Matter device to set up", "_home-assistant._tcp": "Home Assistant",
  "_esphomelib._tcp": "ESPHome", "_mqtt._tcp": "MQTT broker", "_prometheus-http._tcp": "Prometheus exporter",
  "_companion-link._tcp": "Apple Companion", "_sleep-proxy._udp": "Sleep proxy", "_dns-sd._udp": "DNS-SD",
  "_domain._udp": "DNS server", "_ntp._udp": "Time server", "_sip._udp": "Telephone (SIP)", "_git._tcp": "Git",
  "_postgresql._tcp": "PostgreSQL", "_distcc._tcp": "distcc", "_lanchat._tcp": "lanchat", "_filedrop._tcp": "filedrop",
};

const schemes = {
  "_http._tcp": "http", "_https._tcp": "https", "_webdav._tcp": "http", "_webdavs._tcp": "https", "_ssh._tcp": "ssh",
  "_sftp-ssh._tcp": "sftp", "_ftp._tcp": "ftp", "_ipp._tcp": "ipp", "_ipps._tcp": "ipps", "_smb._tcp": "smb",
  "_afpovertcp._tcp": "afp", "_rfb._tcp": "vnc", "_telnet._tcp": "telnet", "_rtsp._tcp": "rtsp",
};

/** What people call a type; null where there is no such name. */
export const typeName = (type) => (Object.hasOwn(names, type.toLowerCase()) ? names[type.toLowerCase()] : null);

/** The scheme of a URL to it; null where there is none. */
export const scheme = (type) => (Object.hasOwn(schemes, type.toLowerCase()) ? schemes[type.toLowerCase()] : null);

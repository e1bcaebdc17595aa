// What service types are called, and which of them a browser or the desktop can open. Values only.
// `names` comes before this, from the one table of the program (KnownType).

const schemes = {
  "_http._tcp": "http", "_https._tcp": "https", "_webdav._tcp": "http", "_webdavs._tcp": "https", "_ssh._tcp": "ssh",
  "_sftp-ssh._tcp": "sftp", "_ftp._tcp": "ftp", "_ipp._tcp": "ipp", "_ipps._tcp": "ipps", "_smb._tcp": "smb",
  "_afpovertcp._tcp": "afp", "_rfb._tcp": "vnc", "_telnet._tcp": "telnet", "_rtsp._tcp": "rtsp",
};

/** What people call a type; null where there is no such name. */
export const typeName = (type) => (Object.hasOwn(names, type.toLowerCase()) ? names[type.toLowerCase()] : null);

/** The scheme of a URL to it; null where there is none. */
export const scheme = (type) => (Object.hasOwn(schemes, type.toLowerCase()) ? schemes[type.toLowerCase()] : null);

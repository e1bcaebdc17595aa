#!/bin/bash
# systemd-resolved as a forwarder for names below local, on a host of the lab: resolved-forwards.sh PROGRAM SERVER, as docs/operations.md has
# it. The process becomes systemd-resolved.
set -euo pipefail
program=$1 server=$2

mkdir -p /run/lab /run/systemd/{resolved.conf.d,resolve/netif}
printf '%s\n' '[Resolve]' "DNS=$server" Domains=~local MulticastDNS=no LLMNR=no DNSSEC=no FallbackDNS= >/run/systemd/resolved.conf.d/lab.conf
# It becomes the user systemd-resolve, and there is only one here.
for file in passwd group; do
    {
        sed '/^systemd-resolve:/d' "/etc/$file"
        [[ $file == passwd ]] && echo 'systemd-resolve:x:0:0::/:/usr/sbin/nologin' || echo 'systemd-resolve:x:0:'
    } >"/run/lab/$file.resolved"
    mount --bind "/run/lab/$file.resolved" "/etc/$file"
done
exec "$program"

#!/bin/bash
# Publishes with systemd-resolved, on a host of the lab without an avahi-daemon: resolved.sh PROGRAM NAME TYPE PORT TXT. The process
# becomes systemd-resolved. Debian 12's says no goodbye, neither at its end nor when a service is unregistered.
set -euo pipefail
program=$1 name=$2 type=$3 port=$4 txt=$5

mkdir -p /run/lab /run/systemd/{dnssd,resolved.conf.d,resolve/netif}
printf '%s\n' '[Resolve]' MulticastDNS=yes LLMNR=no DNSStubListener=no >/run/systemd/resolved.conf.d/lab.conf
printf '%s\n' '[Service]' "Name=$name" "Type=$type" "Port=$port" "TxtText=$txt" >/run/systemd/dnssd/lab.dnssd
# As `resolvectl mdns eth0 yes` is remembered.
printf '%s\n' MDNS=yes LLMNR=no >"/run/systemd/resolve/netif/$(ip -o link show eth0 | cut -d: -f1)"
# It becomes the user systemd-resolve, and there is only one here.
for file in passwd group; do
    {
        sed '/^systemd-resolve:/d' "/etc/$file"
        [[ $file == passwd ]] && echo 'systemd-resolve:x:0:0::/:/usr/sbin/nologin' || echo 'systemd-resolve:x:0:'
    } >"/run/lab/$file.resolved"
    mount --bind "/run/lab/$file.resolved" "/etc/$file"
done
exec "$program"

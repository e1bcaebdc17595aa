#!/bin/bash
# systemd-resolved on a host of the lab; the process becomes it.
#   resolved.sh PROGRAM publish NAME TYPE PORT TXT    publishes, where there is no avahi-daemon. Debian 12's says no goodbye, neither at its
#                                                     end nor when a service is unregistered.
#   resolved.sh PROGRAM forward SERVER                asks SERVER for names below local, as docs/operations.md has it
set -euo pipefail
program=$1

mkdir -p /run/lab /run/systemd/{dnssd,resolved.conf.d,resolve/netif}
settings=('[Resolve]' LLMNR=no)
case $2 in
    publish)
        settings+=(MulticastDNS=yes DNSStubListener=no)
        printf '%s\n' '[Service]' "Name=$3" "Type=$4" "Port=$5" "TxtText=$6" >/run/systemd/dnssd/lab.dnssd
        # As `resolvectl mdns eth0 yes` is remembered.
        printf '%s\n' MDNS=yes LLMNR=no >"/run/systemd/resolve/netif/$(ip -o link show eth0 | cut -d: -f1)"
        ;;
    forward) settings+=("DNS=$3" Domains=~local MulticastDNS=no DNSSEC=no FallbackDNS=) ;;
    *) exit 64 ;;
esac
printf '%s\n' "${settings[@]}" >/run/systemd/resolved.conf.d/lab.conf
# It becomes the user systemd-resolve, and there is only one here.
for file in passwd group; do
    {
        sed '/^systemd-resolve:/d' "/etc/$file"
        [[ $file == passwd ]] && echo 'systemd-resolve:x:0:0::/:/usr/sbin/nologin' || echo 'systemd-resolve:x:0:'
    } >"/run/lab/$file.resolved"
    mount --bind "/run/lab/$file.resolved" "/etc/$file"
done
exec "$program"

#!/bin/bash
# zone-template.sh bind|knot|powerdns DISCOVERD: starts the server, in this network namespace, with what zone-template prints, and
# tells what its key may do and what it may not: a line for each, "may" or "may not".
set -eu
server=$1 discoverd=$2
zone=home.example.org key=pub.home.example.org
folder=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null || true; rm -rf "$folder"' EXIT
ip link set lo up
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start 2>/dev/null || true
secret=c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ=
printf 'key "%s" { algorithm hmac-sha256; secret "%s"; };\n' "$key" "$secret" >"$folder/$key.key"
template() { "$discoverd" zone-template "$server" --domain "$zone" --key "$key" --server-address 127.0.0.1 --only "$1"; }
template zone >"$folder/$zone.zone"
named-checkzone -q "$zone" "$folder/$zone.zone"
template configuration | sed "s|/etc/bind/|$folder/|; s|/var/lib/[a-z]*/|$folder/|; s|SECRET|$secret|; s|/etc/powerdns/|$folder/|" \
    >"$folder/printed"

case $server in
    bind)
        {
            echo "options { directory \"$folder\"; pid-file none; session-keyfile none; managed-keys-directory \"$folder\";"
            echo "  listen-on { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; dnssec-validation no; notify no; };"
            echo "controls { }; statistics-channels { };"
            cat "$folder/printed"
        } >"$folder/named.conf"
        named-checkconf "$folder/named.conf"
        named -g -c "$folder/named.conf" >"$folder/log" 2>&1 &
        ;;
    knot)
        mkdir "$folder/db"
        {
            printf 'server:\n  rundir: %s\n  listen: 127.0.0.1@53\nlog:\n  - target: stderr\n    any: info\n' "$folder"
            printf 'database:\n  storage: %s/db\n' "$folder"
            cat "$folder/printed"
        } >"$folder/knot.conf"
        knotc -c "$folder/knot.conf" conf-check >&2
        knotd -c "$folder/knot.conf" >"$folder/log" 2>&1 &
        ;;
    powerdns)
        sed '/^-- ---- /,$d' "$folder/printed" >"$folder/settings"
        sed '1,/^-- ---- /d' "$folder/printed" >"$folder/discoverd.lua"
        sqlite3 "$folder/db" </usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql
        {
            cat "$folder/settings"
            echo "allow-dnsupdate-from=127.0.0.0/8"
            printf 'launch=gsqlite3\ngsqlite3-database=%s/db\nlocal-address=127.0.0.1\nsocket-dir=%s\nsetuid=\nsetgid=\n' "$folder" "$folder"
        } >"$folder/pdns.conf"
        pdnsutil --config-dir="$folder" load-zone "$zone" "$folder/$zone.zone" >&2
        pdnsutil --config-dir="$folder" import-tsig-key "$key" hmac-sha256 "$secret" >&2
        pdnsutil --config-dir="$folder" set-meta "$zone" TSIG-ALLOW-DNSUPDATE "$key" >&2
        pdns_server --config-dir="$folder" --daemon=no --guardian=no >"$folder/log" 2>&1 &
        ;;
esac
pid=$!
for _ in $(seq 100); do
    dig +short +time=1 +tries=1 @127.0.0.1 "$zone" SOA | grep -q . && break
    kill -0 "$pid" || { cat "$folder/log" >&2 && exit 1; }
    sleep 0.1
done

# PowerDNS says NOERROR to what it leaves out: what counts is what the zone has afterwards.
may() {
    local action name ttl type rest before
    read -r action name ttl type rest <<<"$1"
    [ "$action" = add ] || type=$ttl
    before=$(dig +short @127.0.0.1 "$name" "$type")
    printf 'server 127.0.0.1\nzone %s\nupdate %s\nsend\n' "$zone" "$1" | nsupdate -v -k "$folder/$key.key" >>"$folder/log" 2>&1 || true
    if [ "$before" != "$(dig +short @127.0.0.1 "$name" "$type")" ]; then
        echo "may $1"
    else
        echo "may not $1"
    fi
}
may "add _http._tcp.$zone 60 PTR tony._http._tcp.$zone"
may "add tony._http._tcp.$zone 60 SRV 0 0 80 h1.hosts.$zone"
may "add tony._http._tcp.$zone 60 TXT \"path=/\""
may "add tony._http._tcp.$zone 60 DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA="
may "add _services._dns-sd._udp.$zone 60 PTR _http._tcp.$zone"
may "add 0123456789abcdef._discoverd.$zone 60 TXT \"lease=7200\""
may "add 0._index._discoverd.$zone 60 PTR 0123456789abcdef._discoverd.$zone"
may "add h1.hosts.$zone 60 A 10.0.0.7"
may "add h1.hosts.$zone 60 AAAA fd00::7"
may "delete tony._http._tcp.$zone TXT"
may "add _acme-challenge.$zone 60 TXT forged"
may "add www.$zone 60 A 10.0.0.66"
may "add $zone 60 NS ns.evil.example"
may "add $zone 60 TXT forged"
may "add ns.$zone 60 A 10.0.0.66"
may "add b._dns-sd._udp.$zone 60 CNAME evil.example"
may "add sub._tcp.$zone 60 NS ns.evil.example"
may "add _acme-challenge.hosts.$zone 60 TXT forged"

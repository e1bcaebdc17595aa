#!/bin/bash
# DNS servers for a lab: two subnets with a router between them that forwards unicast only.
#
#   h1 10.53.1.2 fd53:1::2 --- h2, the router and the servers --- h3 10.53.2.2 fd53:2::2
#
# dns.sh LAB up SERVER...    routes the lab LAB (three hosts, see README.md), and starts servers on h2:
#   bind      10.53.0.53 fd53::53   home.example.org (narrow rights), wide.example.org (its key may publish anything), big.example.org (no limit), signed.example.org (DNSSEC)
#   knot      10.53.0.54 fd53::54   the same as office.example.org, wide-office.example.org
#   powerdns  10.53.0.55            shop.example.org
#   unbound   10.53.0.1 fd53::1     a resolver for all of them; the others below are resolvers, too
#   dnsmasq   10.53.0.2             a forwarder to unbound with rebinding protection
#   resolver  10.53.0.3             BIND as a resolver, with its defaults
#   validator 10.53.0.4 127.0.0.1   Unbound that validates signed.example.org; started after bind
# dns.sh LAB start|kill|term|stop|cont|pid|log SERVER    one server; a server that was started keeps its zone
# dns.sh LAB resolv HOST LINE...                          what a host's /etc/resolv.conf says
# dns.sh LAB settings HOST LINE...                        what its /etc/discoverd/discoverd.yaml says
#
# Files are in /run/dns of h2: keys in BIND's format as /run/dns/keys/NAME.key, on every host.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here

die() {
    echo "dns.sh: $*" >&2
    exit 1
}

# On a host of the lab.
on() { "$here/lab" -d "$lab" exec "$@"; }

# Routes the lab. What is done on a host is done by this same script there, with `-` for LAB.
up() {
    # h1 stays on the router's first link, h3 is moved to its second.
    "$here/lab" -d "$lab" link h2 eth1 10.53.2.1/24
    on sw ip link set p3 master br-eth1
    on h2 bash "$here/dns.sh" - route 10.53.1.1/24 fd53:1::1/64 fd53:2::1/64
    local host
    for host in 1 3; do
        on h$host bash "$here/dns.sh" - client "$host"
    done
    on h2 bash "$here/dns.sh" - configure
    local server
    for server in "$@"; do
        on h2 bash "$here/dns.sh" - start "$server"
    done
}

route() {
    echo 1 >/proc/sys/net/ipv4/ip_forward
    echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
    echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
    ip addr flush dev eth0 scope global
    ip addr add "$1" dev eth0
    ip addr add "$2" dev eth0 nodad
    ip addr add "$3" dev eth1 nodad
    local address
    for address in 10.53.0.{1,2,3,4,53,54,55}/32 fd53::{1,53,54}/128; do
        ip addr add "$address" dev lo
    done
}

client() {
    # h3 is in the second subnet.
    local net=$((($1 + 1) / 2))
    ip addr flush dev eth0 scope global
    ip addr add 10.53.$net.2/24 dev eth0
    ip addr add fd53:$net::2/64 dev eth0 nodad
    ip route add default via 10.53.$net.1
    ip -6 route add default via fd53:$net::1
    resolv 'nameserver 10.53.0.1' 'search home.example.org'
    keys
}

# Replaces the whole file, as resolvconf does.
resolv() {
    printf '%s\n' "$@" >/run/lab/resolv.conf
    mountpoint -q /etc/resolv.conf || mount --bind /run/lab/resolv.conf /etc/resolv.conf
}

# The host's /etc is the machine's until then.
settings() {
    if [[ ! -d /run/lab/upper ]]; then
        mkdir -p /run/lab/upper /run/lab/work
        mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/lab/upper,workdir=/run/lab/work /etc
        mount --bind /run/lab/resolv.conf /etc/resolv.conf
    fi
    mkdir -p /etc/discoverd
    printf '%s\n' "$@" >/etc/discoverd/discoverd.yaml
}

# name, algorithm, secret
readonly all_keys='pub hmac-sha256 c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ=
wide hmac-sha512 d2lkZS13aWRlLXdpZGUtd2lkZS13aWRlLXdpZGUtMTI=
gw hmac-sha256 Z2F0ZXdheS1nYXRld2F5LWdhdGV3YXktZ2F0ZXdheTE=
h1 hmac-sha256 aG9zdC1ob3N0LWhvc3QtaG9zdC1ob3N0LWhvc3QtMTI='

keys() {
    local name algorithm secret
    mkdir -p /run/dns/keys
    while read -r name algorithm secret; do
        printf 'key "%s.home.example.org" {\n    algorithm %s;\n    secret "%s";\n};\n' \
            "$name" "$algorithm" "$secret" >"/run/dns/keys/$name.key"
        chmod 640 "/run/dns/keys/$name.key"
    done <<<"$all_keys"
    sed 's/secret "[^"]*"/secret "d3Jvbmctd3Jvbmctd3Jvbmctd3Jvbmctd3Jvbmc="/' /run/dns/keys/pub.key >/run/dns/keys/wrong-secret.key
    sed 's/"pub\./"unknown./' /run/dns/keys/pub.key >/run/dns/keys/unknown.key
    chmod 640 /run/dns/keys/*.key
}

# A zone's first contents: name, address of its server, and its IPv6 address if it has one.
zone() {
    printf '$ORIGIN %s.\n$TTL 60\n@ SOA ns.%s. hostmaster.%s. 1 3600 600 86400 10\n@ NS ns\nns A %s\n' "$1" "$1" "$1" "$2"
    [[ -z ${3-} ]] || printf 'ns AAAA %s\n' "$3"
    printf '%s._dns-sd._udp PTR @\n' b lb db r dr
}

reverse() {
    printf '$TTL 60\n@ SOA ns.home.example.org. hostmaster.home.example.org. 1 3600 600 86400 10\n@ NS ns.home.example.org.\n'
    printf 'b._dns-sd._udp.0 PTR home.example.org.\nb._dns-sd._udp.0 PTR office.example.org.\nlb._dns-sd._udp.0 PTR home.example.org.\n'
}

configure() {
    keys
    cd /run/dns
    mkdir -p bind knot/db powerdns unbound resolver dnsmasq validator
    local name
    for name in home wide big signed; do zone $name.example.org 10.53.0.53 fd53::53 >bind/$name.zone; done
    for name in office wide-office; do zone $name.example.org 10.53.0.54 fd53::54 >knot/$name.example.org.zone; done
    zone shop.example.org 10.53.0.55 >powerdns/shop.zone
    reverse >bind/reverse1.zone
    reverse >bind/reverse2.zone
    chmod -R a+rX /run/dns
    bind_configuration >bind/named.conf
    resolver_configuration >resolver/named.conf
    knot_configuration >knot/knot.conf
    powerdns_configuration >powerdns/pdns.conf
    powerdns_policy >powerdns/policy.lua
    unbound_configuration 10.53.0.1 fd53::1 iterator >unbound/unbound.conf
    unbound_configuration 10.53.0.4 127.0.0.1 'validator iterator' '/run/dns/validator/anchor' >validator/unbound.conf
    dnsmasq_configuration >dnsmasq/dnsmasq.conf
}

# As `zone-template` advises: services, publishers, and hosts by keys of their own or in a sub-domain.
bind_configuration() {
    cat <<N
$(for key in pub wide gw h1; do echo "include \"/run/dns/keys/$key.key\";"; done)
options {
    directory "/run/dns/bind"; pid-file none; session-keyfile none; managed-keys-directory "/run/dns/bind";
    listen-on { 10.53.0.53; }; listen-on-v6 { fd53::53; };
    recursion no; dnssec-validation no; notify no; tcp-clients 1000;
    allow-transfer { key wide.home.example.org; };
};
controls { };
statistics-channels { };
logging { category update { default_stderr; }; category update-security { default_stderr; }; };
zone "home.example.org" { type primary; file "home.zone"; update-policy {
    grant pub.home.example.org subdomain _tcp.home.example.org. PTR SRV TXT DHCID;
    grant pub.home.example.org subdomain _udp.home.example.org. PTR SRV TXT DHCID;
    grant pub.home.example.org subdomain _discoverd.home.example.org. TXT PTR DHCID;
    grant pub.home.example.org subdomain hosts.home.example.org. A AAAA DHCID;
    grant h1.home.example.org self . A AAAA DHCID;
    grant gw.home.example.org subdomain link1.home.example.org. PTR SRV TXT A AAAA DHCID;
}; };
zone "wide.example.org" { type primary; file "wide.zone";
    update-policy { grant wide.home.example.org zonesub ANY; grant pub.home.example.org zonesub PTR SRV TXT A AAAA DHCID; }; };
zone "big.example.org" { type primary; file "big.zone"; max-records-per-type 0;
    update-policy { grant wide.home.example.org zonesub ANY; grant pub.home.example.org zonesub PTR SRV TXT A AAAA DHCID; }; };
zone "signed.example.org" { type primary; file "signed.zone"; dnssec-policy default;
    update-policy { grant wide.home.example.org zonesub ANY; grant pub.home.example.org zonesub PTR SRV TXT A AAAA DHCID; }; };
zone "1.53.10.in-addr.arpa" { type primary; file "reverse1.zone"; };
zone "2.53.10.in-addr.arpa" { type primary; file "reverse2.zone"; };
N
}

resolver_configuration() {
    cat <<N
options {
    directory "/run/dns/resolver"; pid-file none; session-keyfile none; managed-keys-directory "/run/dns/resolver";
    listen-on { 10.53.0.3; }; listen-on-v6 { none; };
    recursion yes; allow-recursion { any; }; dnssec-validation no; empty-zones-enable no;
};
controls { };
statistics-channels { };
$(stubs | while read -r name server; do echo "zone \"$name\" { type static-stub; server-addresses { $server; }; };"; done)
N
}

# The zones, and who serves them.
stubs() {
    printf '%s.example.org 10.53.0.53\n' home wide big signed
    printf '%s.example.org 10.53.0.54\n' office wide-office
    echo 'shop.example.org 10.53.0.55'
    printf '%s.53.10.in-addr.arpa 10.53.0.53\n' 1 2
}

knot_configuration() {
    cat <<N
server:
    rundir: "/run/dns/knot"
    listen: [ 10.53.0.54@53, fd53::54@53 ]
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: info
database:
    storage: "/run/dns/knot/db"
key:
$(while read -r name algorithm secret; do
        printf '  - id: %s.home.example.org\n    algorithm: %s\n    secret: %s\n' "$name" "$algorithm" "$secret"
    done <<<"$all_keys")
acl:
  # One rule must cover the whole message: its names, and its types.
  - id: pub
    key: pub.home.example.org
    action: update
    update-type: [ PTR, SRV, TXT, A, AAAA, DHCID ]
    update-owner: name
    update-owner-match: sub
    update-owner-name: [ _tcp, _udp, _discoverd, hosts ]
  - id: gw
    key: gw.home.example.org
    action: update
    update-type: [ PTR, SRV, TXT, A, AAAA, DHCID ]
    update-owner: name
    update-owner-match: sub-or-equal
    update-owner-name: [ link1 ]
  - id: wide
    key: [ wide.home.example.org, pub.home.example.org ]
    action: update
    update-type: [ PTR, SRV, TXT, A, AAAA, DHCID ]
  - id: transfer
    key: wide.home.example.org
    action: transfer
template:
  - id: default
    storage: "/run/dns/knot"
    file: "%s.zone"
    zonefile-sync: 60
    semantic-checks: off
zone:
  - domain: office.example.org
    acl: [ pub, gw, transfer ]
  - domain: wide-office.example.org
    acl: [ wide, transfer ]
N
}

powerdns_configuration() {
    cat <<N
launch=gsqlite3
gsqlite3-database=/run/dns/powerdns/pdns.sqlite3
gsqlite3-dnssec=yes
local-address=10.53.0.55
socket-dir=/run/dns/powerdns
dnsupdate=yes
allow-dnsupdate-from=0.0.0.0/0
webserver=no
api=no
guardian=no
daemon=no
disable-syslog=yes
receiver-threads=1
zone-cache-refresh-interval=0
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
N
}

# A policy for who wants one (PowerDNSTests): PowerDNS still answers NOERROR to what it leaves out. All of the key gw, the addresses of the key h1.
powerdns_policy() {
    cat <<'N'
function updatepolicy(input)
    local key, kind = input:getTsigName():toString():lower(), input:getQType()
    if key == "gw.home.example.org." then return false end
    return key ~= "h1.home.example.org." or (kind ~= 1 and kind ~= 28)
end
N
}

# Two addresses, the modules, and a trust anchor's file if it has one.
unbound_configuration() {
    cat <<N
server:
    chroot: ""
    username: ""
    directory: "/run/dns"
    pidfile: ""
    use-syslog: no
    do-daemonize: no
    interface: $1
    interface: $2
    access-control: 0.0.0.0/0 allow
    access-control: ::/0 allow
    do-not-query-localhost: no
    module-config: "$3"
    ${4:+trust-anchor-file: "$4"}
    local-zone: "10.in-addr.arpa." nodefault
remote-control:
    control-enable: no
$(stubs | while read -r name server; do printf 'stub-zone:\n    name: "%s."\n    stub-addr: %s\n' "$name" "$server"; done)
N
}

dnsmasq_configuration() {
    cat <<N
no-resolv
no-hosts
no-daemon
user=root
bind-interfaces
listen-address=10.53.0.2
server=10.53.0.1
stop-dns-rebind
cache-size=0
N
}

# The server's command, and where it answers.
command_of() {
    case $1 in
    bind) command=(/usr/sbin/named -g -c /run/dns/bind/named.conf) address=10.53.0.53 ;;
    resolver) command=(/usr/sbin/named -g -c /run/dns/resolver/named.conf) address=10.53.0.3 ;;
    knot) command=(/usr/sbin/knotd -c /run/dns/knot/knot.conf) address=10.53.0.54 ;;
    powerdns) command=(/usr/sbin/pdns_server --config-dir=/run/dns/powerdns) address=10.53.0.55 ;;
    unbound) command=(/usr/sbin/unbound -d -c /run/dns/unbound/unbound.conf) address=10.53.0.1 ;;
    validator) command=(/usr/sbin/unbound -d -c /run/dns/validator/unbound.conf) address=10.53.0.4 ;;
    dnsmasq) command=(/usr/sbin/dnsmasq -C /run/dns/dnsmasq/dnsmasq.conf) address=10.53.0.2 ;;
    *) die "no server $1" ;;
    esac
}

make_powerdns_database() {
    local base=/run/dns/powerdns name algorithm secret
    [[ ! -e $base/pdns.sqlite3 ]] || return 0
    sqlite3 $base/pdns.sqlite3 </usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql
    util() { /usr/bin/pdnsutil --config-dir=$base "$@" >/dev/null; }
    util load-zone shop.example.org $base/shop.zone
    while read -r name algorithm secret; do
        util import-tsig-key "$name.home.example.org" "$algorithm" "$secret"
    done <<<"$all_keys"
    util set-meta shop.example.org TSIG-ALLOW-DNSUPDATE {pub,wide,gw,h1}.home.example.org
    util set-meta shop.example.org TSIG-ALLOW-AXFR wide.home.example.org
}

# The key that the signed zone is to be validated with: its server's own, once it has signed.
trust_anchor() {
    local round
    for ((round = 0; round < 100; round++)); do
        dig +short @10.53.0.53 signed.example.org DNSKEY | sed 's/^/signed.example.org. IN DNSKEY /' >/run/dns/validator/anchor
        [[ -z $(dig +short @10.53.0.53 signed.example.org RRSIG) || ! -s /run/dns/validator/anchor ]] || return 0
        sleep 0.1
    done
    die "signed.example.org is not signed"
}

start() {
    local command address
    command_of "$1"
    [[ $1 != validator ]] || trust_anchor
    [[ $1 != powerdns ]] || make_powerdns_database
    # It takes the number in a file for a server that still runs.
    [[ $1 != knot ]] || rm -f /run/dns/knot/knot.pid
    setsid "${command[@]}" >>"/run/dns/$1.log" 2>&1 </dev/null &
    echo $! >"/run/dns/$1.pid"
    local round
    for ((round = 0; round < 400; round++)); do
        # shellcheck disable=SC2188
        (: >"/dev/tcp/$address/53") 2>/dev/null && return 0
        sleep 0.05
    done
    tail -n 5 "/run/dns/$1.log" >&2
    die "$1 does not answer"
}

# Signals a server by its pid, and only if it is one in this network namespace.
signal_to() {
    local pid
    pid=$(<"/run/dns/$2.pid")
    [[ $(readlink "/proc/$pid/ns/net") == "$(readlink /proc/self/ns/net)" ]] || die "$2 does not run"
    kill "-$1" "$pid"
    [[ $1 == KILL || $1 == TERM ]] || return 0
    local round
    for ((round = 0; round < 400; round++)); do
        [[ -d /proc/$pid && $(<"/proc/$pid/stat") != *') Z '* ]] 2>/dev/null || return 0
        sleep 0.05
    done
    die "$2 did not end"
}

main() {
    lab=${1?} # `-` on a host
    local verb=${2?}
    shift 2
    case $verb in
    up) up "$@" ;;
    route | client | configure) "$verb" "$@" ;;
    resolv | settings)
        if [[ $lab == - ]]; then "$verb" "$@"; else on "$1" bash "$here/dns.sh" - "$verb" "${@:2}"; fi
        ;;
    start | kill | term | stop | cont | pid | log)
        [[ $lab == - ]] || { on h2 bash "$here/dns.sh" - "$verb" "$@"; return; }
        case $verb in
        start) start "$1" ;;
        pid) cat "/run/dns/$1.pid" ;;
        log) cat "/run/dns/$1.log" ;;
        *) signal_to "${verb^^}" "$1" ;;
        esac
        ;;
    *) die "unknown: $verb" ;;
    esac
}

main "$@"; exit

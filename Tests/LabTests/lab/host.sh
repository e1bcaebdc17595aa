#!/bin/bash
# Starts daemons on the host whose namespaces this process is in, and waits until they serve: host.sh dbus avahi.
set -euo pipefail

readonly bus=/run/dbus/system_bus_socket
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$bus

die() {
    echo "lab: $LAB_HOST: $*" >&2
    exit 1
}

# Never start a multicast daemon where a real interface could be: the only links must be lo and veths, including eth0.
guard() {
    local -a links
    mapfile -t links < <(exec ip -o -d link show)
    local link has_lo='' has_eth0=''
    for link in "${links[@]}"; do
        case $link in
        [0-9]*': lo: '*' link/loopback '*) has_lo=1 ;;
        [0-9]*': eth0@'*' veth '*) has_eth0=1 ;;
        [0-9]*': '*' veth '*) ;;
        *) die "refusing to start a daemon: neither lo nor a veth: $link" ;;
        esac
    done
    [[ $has_lo && $has_eth0 ]] || die "refusing to start a daemon: lo or eth0 is missing"
}

# Runs a daemon in the background within the lab's pid namespace, whose first process reaps it. /proc here is the machine's,
# so the recorded pid is the one that `lab` and the tests can signal.
launch() {
    local name=$1
    shift
    # Not the leader of a process group: setsid(1) does not fork.
    (
        read -r pid _ </proc/self/stat
        echo "$pid" >"/run/lab/$name.pid"
        exec setsid "$@" </dev/null >>"/run/lab/$name.log" 2>&1
    ) &
}

start_dbus() {
    echo "<!DOCTYPE busconfig PUBLIC '-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN'
 'http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd'>
<busconfig>
  <listen>unix:path=$bus</listen>
  <auth>EXTERNAL</auth>
  <policy context='default'>
    <allow user='*'/>
    <allow own='*'/>
    <allow send_destination='*' eavesdrop='true'/>
    <allow receive_sender='*' eavesdrop='true'/>
  </policy>
</busconfig>" >/run/lab/dbus.conf
    [[ ! -e $bus ]] || rm -f "$bus"
    launch dbus dbus-daemon --config-file=/run/lab/dbus.conf --nofork --nopidfile
    wait_dbus
}

start_avahi() {
    guard
    # Debian's configuration, except for the name and what `lab start --avahi` and `lab avahi conf` add.
    {
        printf '%s\n' '[server]' "host-name=${LAB_HOST_NAME:-$LAB_HOST}" use-ipv4=yes use-ipv6=yes \
            ratelimit-interval-usec=1000000 ratelimit-burst=1000
        [[ ! -r /run/lab/avahi.server ]] || echo "$(</run/lab/avahi.server)"
        printf '%s\n' '[wide-area]' enable-wide-area=yes '[publish]' publish-hinfo=no publish-workstation=no
        [[ ! -r /run/lab/avahi.more ]] || echo "$(</run/lab/avahi.more)"
    } >/run/lab/avahi.conf
    [[ ! -e /run/avahi-daemon/pid ]] || rm -f /run/avahi-daemon/pid
    [[ -d /run/avahi-daemon ]] || mkdir /run/avahi-daemon
    local -a with=()
    # A clock that only avahi-daemon sees (clock-offset.c).
    [[ ! ${LAB_AVAHI_PRELOAD-} ]] || with=(env "LD_PRELOAD=$LAB_AVAHI_PRELOAD" CLOCK_OFFSET_FILE=/run/lab/clock)
    local log
    : >>/run/lab/avahi.log
    exec {log}</run/lab/avahi.log
    mapfile -u "$log" # what an earlier one said
    launch avahi "${with[@]}" avahi-daemon -f /run/lab/avahi.conf --no-drop-root --no-chroot --no-rlimits --no-proc-title --debug
    until_true avahi 20 says_that_it_is_complete "$log"
    exec {log}<&-
}

wait_dbus() {
    until_true dbus 10 test -S "$bus"
    until_true dbus 10 ask org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus.GetId
}

# Costs no process: it is asked for a second or more, in every lab that starts.
says_that_it_is_complete() {
    local -a lines
    mapfile -u "$1" lines
    [[ ${lines[*]-} == *"Server startup complete"* ]]
}

wait_avahi() {
    until_true avahi 20 avahi_is_running
}

avahi_is_running() {
    [[ $(ask org.freedesktop.Avahi / org.freedesktop.Avahi.Server.GetState) == *'int32 2'* ]]
}

ask() {
    dbus-send --system --print-reply --reply-timeout=2000 "--dest=$1" "$2" "$3" 2>/dev/null
}

until_true() {
    local name=$1 deadline=$((SECONDS + $2)) nap
    shift 2
    exec {nap}<> <(:)
    until "$@" >/dev/null; do
        ((SECONDS < deadline)) || die "$name-daemon does not answer: $(tail -n 5 "/run/lab/$name.log" 2>/dev/null)"
        read -rt 0.02 -u "$nap" || true
    done
    exec {nap}<&-
}

# A link that comes later is as everywhere (inside.sh).
echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/default/accept_dad || true
for what in "$@"; do
    case $what in
    dbus) start_dbus ;;
    avahi) start_avahi ;;
    wait-dbus) wait_dbus ;;
    wait-avahi) wait_avahi ;;
    esac
done

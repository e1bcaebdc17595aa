#!/bin/bash
# The lab's first process: creates the switch and the hosts, prints READY, and stays. Run by `lab start` in new user,
# network, mount, UTS and pid namespaces, but still with the outer /proc.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
hosts=2 addresses=both users='' no_avahi=' ' avahi=()
while (($#)); do
    case $1 in
    --hosts) hosts=$2 && shift ;;
    --no-avahi) no_avahi+="$2 " && shift ;;
    --avahi) avahi+=("$2") && shift ;;
    --link-local-only) addresses=link-local ;;
    --ipv4-only) addresses=ipv4 ;;
    --users) users=1 ;;
    esac
    shift
done
for line in "${avahi[@]}"; do
    [[ $line =~ ^[a-z-]+=[^[:cntrl:]]*$ ]] || { echo "lab: --avahi needs KEY=VALUE" >&2 && exit 1; }
done
[[ $hosts =~ ^[0-9]+$ && $hosts -ge 1 && $hosts -le 100 ]] || { echo "lab: --hosts is 1 to 100" >&2 && exit 1; }
case :$PATH: in *:/usr/sbin:*) ;; *) PATH=$PATH:/usr/sbin:/sbin ;; esac

# This namespace must be a new one: nothing but a loopback link may be in it.
links() { ip -o link show | awk -F': ' '{ sub(/@.*/, "", $2); print $2 }' | sort | tr '\n' ' '; }
[[ $(links) == 'lo ' ]] || { echo "lab: refusing to start: not a network namespace of its own" >&2 && exit 1; }

read -r outer_pid _ </proc/self/stat # the outer /proc says the outer pid
namespace=$(readlink /proc/self/ns/user)
echo "INIT $outer_pid $namespace"

mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/netns /run/lab/etc/avahi/services
: >"/run/lab/$namespace"
# Without root there is only one user here, so avahi must be that one for avahi-daemon's chown.
for file in passwd group; do
    [[ ! $users ]] || break
    {
        sed '/^avahi:/d' "/etc/$file"
        [[ $file == passwd ]] && echo 'avahi:x:0:0::/run/avahi-daemon:/usr/sbin/nologin' || echo 'avahi:x:0:'
    } >/run/lab/etc/$file
    mount --bind /run/lab/etc/$file /etc/$file
done
# Keeps this machine's own services out of the lab.
if [[ -d /etc/avahi ]]; then
    mount --bind /run/lab/etc/avahi /etc/avahi
fi

# Creates a host without links. A sleeping process holds its mount and UTS namespaces, because pinning a mount namespace
# with a file is unreliable (Linux 6.18 refuses the bind mount at random). Its outer pid is how `lab` finds
# them. /proc stays the outer one: commands on a host are not in this pid namespace.
make_host() {
    ip netns add "$1"
    local pid
    # shellcheck disable=SC2016
    read -r pid < <(exec nsenter "--net=/run/netns/$1" unshare --mount --uts --propagation private bash -c '
        set -e
        hostname "$1"
        mount -t tmpfs -o mode=755 tmpfs /run
        # State that a daemon keeps must not stay on this machine.
        mount -t tmpfs -o mode=755 tmpfs /var/lib
        mount -t sysfs sysfs /sys 2>/dev/null || true
        mkdir -p /run/dbus /run/lab
        mkdir -m 700 /run/user
        ip link set lo up
        read -r pid _ </proc/self/stat
        echo "$pid"
        exec sleep infinity >/dev/null' - "$1")
    echo "$pid" >"/run/lab/$1.holder"
    ((!${#avahi[@]})) || printf '%s\n' "${avahi[@]}" >"/proc/$pid/root/run/lab/avahi.server"
}

make_host sw
ip -n sw link add br0 type bridge mcast_snooping 0
ip -n sw link set br0 up
for ((n = 1; n <= hosts; n++)); do
    make_host h$n
    ip link add eth0 netns h$n type veth peer name p$n netns sw
    ip -n sw link set p$n master br0 up
    # Duplicate address detection would only delay the start: no one else is on this bridge.
    # shellcheck disable=SC2016
    nsenter "--net=/run/netns/h$n" bash -c '
        echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
        [[ $1 != ipv4 ]] || echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6' - "$addresses" 2>/dev/null || true
    [[ $addresses == link-local ]] || ip -n h$n addr add 10.77.0.$n/24 dev eth0
    ip -n h$n link set eth0 up
done

pids=()
for ((n = 1; n <= hosts; n++)); do
    daemons=(dbus avahi)
    [[ $no_avahi != *" h$n "* ]] || daemons=(dbus)
    holder=/proc/$(<"/run/lab/h$n.holder")/ns
    LAB_HOST=h$n nsenter "--net=$holder/net" "--mount=$holder/mnt" "--uts=$holder/uts" \
        bash "$here/host.sh" "${daemons[@]}" &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid"
done
echo READY

# Stay, so that bash reaps the orphans that fall to the first process of a pid namespace.
exec {forever}<> <(:)
while :; do
    read -r _ <&"$forever" || true
done

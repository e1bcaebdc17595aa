#!/bin/bash
# The lab's first process: creates the switch and the hosts, prints READY, and stays. Run by `lab start` in new user,
# network, mount, UTS and pid namespaces, but still with the outer /proc.
set -euo pipefail

# Each program costs a test as much as discoverd's own start; this runs in front of nearly every test.
readonly here=${BASH_SOURCE[0]%/*}
hosts=2 bits=24 addresses=both users='' no_avahi=' ' avahi=()
while (($#)); do
    case $1 in
    --hosts) hosts=$2 && shift ;;
    --bits) bits=$2 && shift ;;
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
[[ $bits =~ ^[0-9]+$ && $bits -ge 8 && $bits -le 24 ]] || { echo "lab: --bits is 8 to 24" >&2 && exit 1; }
case :$PATH: in *:/usr/sbin:*) ;; *) PATH=$PATH:/usr/sbin:/sbin ;; esac

# This namespace must be a new one: nothing but a loopback link may be in it.
mapfile -s 2 -t links </proc/self/net/dev
[[ ${#links[@]} == 1 && ${links[0]} =~ ^\ *lo: ]] || { echo "lab: refusing to start: not a network namespace of its own" >&2 && exit 1; }

read -r outer_pid _ </proc/self/stat # the outer /proc says the outer pid
namespace=$(readlink /proc/self/ns/user)
echo "INIT $outer_pid $namespace"

mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/netns /run/lab/etc/avahi/services
: >"/run/lab/$namespace"
# What all hosts have of their own. State that a daemon keeps must not stay on this machine.
printf '%s\n' 'host-run /run tmpfs mode=755' 'host-state /var/lib tmpfs mode=755' 'host-sys /sys sysfs' >/run/lab/fstab.host
bind() { echo "/run/lab/etc/$1 /etc/$1 none bind"; }
# Without root there is only one user here, so avahi must be that one for avahi-daemon's chown.
without_avahi() {
    local -a lines
    mapfile -t lines <"/etc/$1"
    for line in "${lines[@]}"; do [[ $line == avahi:* ]] || echo "$line"; done
}
{
    if [[ ! $users ]]; then
        { without_avahi passwd && echo 'avahi:x:0:0::/run/avahi-daemon:/usr/sbin/nologin'; } >/run/lab/etc/passwd
        { without_avahi group && echo 'avahi:x:0:'; } >/run/lab/etc/group
        bind passwd
        bind group
    fi
    # Keeps this machine's own services out of the lab.
    [[ ! -d /etc/avahi ]] || bind avahi
} >/run/lab/fstab
mount --all --fstab /run/lab/fstab

# Creates a host without links. A sleeping process holds its mount and UTS namespaces, because pinning a mount namespace
# with a file is unreliable (Linux 6.18 refuses the bind mount at random). Its outer pid is how `lab` finds
# them. /proc stays the outer one: commands on a host are not in this pid namespace.
make_host() {
    local pid
    # shellcheck disable=SC2016
    read -r pid < <(exec unshare --net --mount --uts --propagation private bash -c '
        set -e
        hostname "$1"
        # /sys cannot be mounted everywhere.
        mount --all --fstab /run/lab/fstab.host 2>/dev/null || (($? == 64))
        [[ ! -e /run/lab && ! -e /var/lib/dpkg ]]
        mkdir /run/dbus /run/lab
        mkdir -m 700 /run/user
        # Duplicate address detection would only delay the start: no one else is on this bridge. Later links have it again.
        {
            echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
            [[ $2 != ipv4 ]] || echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
        } 2>/dev/null || true
        read -r pid _ </proc/self/stat
        echo "$pid"
        exec sleep infinity >/dev/null' - "$1" "$addresses")
    ip netns attach "$1" "$pid"
    echo "$pid" >"/run/lab/$1.holder"
    ((!${#avahi[@]})) || printf '%s\n' "${avahi[@]}" >"/proc/$pid/root/run/lab/avahi.server"
}

make_host sw
for ((n = 1; n <= hosts; n++)); do make_host h$n; done
{
    printf '%s\n' 'link set lo up' 'link add br0 type bridge mcast_snooping 0' 'link set br0 up'
    for ((n = 1; n <= hosts; n++)); do
        printf '%s\n' "link add p$n type veth peer name eth0 netns h$n" "link set p$n master br0 up"
    done
} | ip -n sw -batch -
for ((n = 1; n <= hosts; n++)); do
    {
        echo 'link set lo up'
        [[ $addresses == link-local ]] || echo "addr add 10.77.0.$n/$bits dev eth0"
        echo 'link set eth0 up'
    } | ip -n h$n -batch -
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

# The checks in the booted machine; sourced by `machine`.
# shellcheck shell=bash disable=SC2154
passed=0 failed=0
socket=/run/discoverd/control.sock

ok() {
    passed=$((passed + 1))
    echo "ok: $*"
}

bad() {
    failed=$((failed + 1))
    echo "FAILED: $*" >&2
}

# until_true SECONDS WHAT COMMAND...: waits for an event, polling every fifth of a second; without it nothing else makes sense.
until_true() {
    local limit=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS > limit)); then
            bad "$what"
            return 1
        fi
        sleep 0.2
    done
    ok "$what"
}

# check WHAT COMMAND...
check() {
    local what=$1
    shift
    if "$@" >/dev/null 2>&1; then ok "$what"; else bad "$what"; fi
}

find_leader() {
    leader=$(pgrep -P "$nspawn" | head -n 1)
    [[ -n $leader ]] && [[ $(cat "/proc/$leader/comm" 2>/dev/null) == systemd ]]
}

booted() {
    local state
    state=$(in_machine systemctl is-system-running) || true
    [[ $state == running || $state == degraded ]]
}

main_pid() { in_machine systemctl show -p MainPID --value discoverd.service; }
is_active() { in_machine systemctl is-active --quiet "$1"; }
is_not_active() { ! is_active "$1"; }
ask() { in_machine curl -fsS --max-time 10 --unix-socket "$socket" "http://localhost$1"; }
answers() { ask /v1/status; }
has_new_pid() {
    local now
    now=$(main_pid) && [[ $now != 0 && $now != "$1" ]] && is_active discoverd.service
}
journal_has() { in_machine journalctl -q -u discoverd.service --no-pager -o cat | grep -qE "$1"; }

# Commands of h2: the machine's must not inherit its bus.
on_h2() { env DBUS_SYSTEM_BUS_ADDRESS="unix:path=$root/h2/run/bus" "$@"; }

# h2: an avahi-daemon and a dbus-daemon of its own in this network namespace, with mounts of its own.
start_other_host() {
    local run=$root/h2
    mkdir -p "$run/run"
    cat >"$run/bus.conf" <<EOF
<busconfig><type>system</type><listen>unix:path=$run/run/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_destination="*"/>
<allow receive_type="signal"/><allow eavesdrop="true"/></policy></busconfig>
EOF
    printf '[server]\nhost-name=h2\nallow-interfaces=e0\nratelimit-interval-usec=0\n[rlimits]\n' >"$run/avahi.conf"
    dbus-daemon --config-file="$run/bus.conf" --nofork --nopidfile >"$run/bus.log" 2>&1 &
    other+=("$!")
    until_true 5 'h2 has a bus' test -S "$run/run/bus" || return
    on_h2 unshare -m sh -c "mount -t tmpfs tmpfs /run && exec avahi-daemon -f $run/avahi.conf --no-drop-root --no-chroot --no-rlimits" \
        >"$run/avahi.log" 2>&1 &
    other+=("$!")
    until_true 10 'h2 has an avahi-daemon' on_h2 avahi-browse -at
    on_h2 avahi-publish -s faraway _witap._tcp 9000 path=/x >"$run/publish.log" 2>&1 &
    other+=("$!")
    until_true 15 'h2 has published' grep -q Established "$run/publish.log"
}

run_checks() {
    check 'the package installs' in_machine env DEBIAN_FRONTEND=noninteractive apt-get -qy install /root/discoverd.deb
    check 'the group is there' in_machine getent group discoverd
    check 'enabled' in_machine systemctl enable --now discoverd
    until_true 20 'the service has started' is_active discoverd.service
    check 'avahi-daemon runs' is_active avahi-daemon.service
    check 'it is not root, and has no capability' is_harmless
    check 'its exposure' in_machine systemd-analyze security --offline=yes --threshold=15 /lib/systemd/system/discoverd.service
    check 'its units are valid' units_are_valid
    until_true 30 'h2 is heard by the machine' hears_other_host
    until_true 30 "h2's service is seen through the API" sees_other_host
    until_true 10 'discoverd status is green' in_machine discoverd status
    check 'systemctl status tells how it is' status_text_has 'services published'
    check_users
    check_trust
    check_restarts
    check_reload
    check_supervision
    check_names
    check_containers
    check_labels
    check_removal
}

# Everyone gets answers; the group decides who may publish.
check_users() {
    check 'everyone is answered' in_machine setpriv --reuid=65534 --regid=65534 --clear-groups \
        curl -fsS --max-time 5 --unix-socket "$socket" http://localhost/v1/status
    in_machine setpriv --reuid=65534 --regid=65534 --clear-groups discoverd publish nobodys 9000 --detach \
        >"$root/nobody.log" 2>&1
    check 'an ordinary user may not publish' test $? = 77
    check 'and is told which group may' grep -q 'group discoverd' "$root/nobody.log"
    in_machine useradd --no-create-home --groups discoverd member
    check 'a member of the group may' in_machine runuser -u member -- discoverd publish members 9000 --detach
    check 'and withdraws it' in_machine runuser -u member -- discoverd unpublish members
}

# Root creates the socket and the daemon listens on it as its own user. Commands trust it because of its directory, or in a
# container because of its mount.
check_trust() {
    local as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
    check 'an ordinary user believes the socket' in_machine sh -c "$as_nobody discoverd status"
    check 'and where it is mounted' in_machine unshare --mount sh -c \
        "mkdir -p /mnt/c && mount -t tmpfs -o mode=755 tmpfs /mnt/c && touch /mnt/c/s && mount --bind $socket /mnt/c/s &&
        $as_nobody discoverd status --socket /mnt/c/s"
    in_machine sh -c 'install -d -o 65534 /run/theirs
        touch /run/theirs/control.sock && mount --bind '"$socket"' /run/theirs/control.sock'
    in_machine discoverd ls --socket /run/theirs/control.sock >/dev/null 2>"$root/theirs.log"
    check 'not in a directory of another user' test $? = 77
    in_machine sh -c 'umount /run/theirs/control.sock; rm -r /run/theirs'
}

# A browser on the other host must receive nothing while everything here restarts.
check_restarts() {
    local log=$root/h2/browse.log pid unit
    in_machine sh -c 'printf "name: \"web on %%h\"\ntype: _http._tcp\nport: 80\ncheck: unit:dbus.socket\n" >/etc/discoverd/services.d/web.yaml'
    check 'discoverd reload with a service' in_machine discoverd reload
    check 'a service that is handed over' in_machine discoverd publish handed 9001 --type _http._tcp --detach
    # Not through on_h2: a function in the background is a shell, which would be killed instead.
    env DBUS_SYSTEM_BUS_ADDRESS="unix:path=$root/h2/run/bus" "$root/tree/usr/bin/discoverd" \
        browse _http._tcp --json --no-daemon --avahi always >"$log" 2>&1 &
    other+=("$!")
    until_true 20 'h2 finds the service' grep -q '"added".*"web on machine"' "$log"
    until_true 20 'h2 finds the other' grep -q '"added".*"handed"' "$log"
    for unit in avahi-daemon.service dbus.service discoverd.service; do
        check "restart of $unit" in_machine systemctl restart "$unit"
        # It is not asked before it can have noticed.
        sleep 1
        until_true 15 "both services are registered after a restart of $unit" are_registered
        until_true 15 "and discoverd status is green" in_machine discoverd status
    done
    pid=$(main_pid)
    in_machine kill -9 "$pid"
    # The socket is the manager's: who asks now waits for the next process.
    check 'the socket answers while the process is replaced' answers
    until_true 15 'after SIGKILL there is a new process' has_new_pid "$pid"
    until_true 15 'both services are registered after SIGKILL' are_registered
    # The browser holds an end back for 3.2 s: only then would it have told of one.
    sleep 5
    check 'h2 was told of no end' bash -c "! grep -q '\"removed\"' '$log'"
    check 'what was handed over is withdrawn' in_machine discoverd unpublish handed _http._tcp
    until_true 20 'h2 is told of its end' grep -q '"removed".*"handed"' "$log"
    check 'stop' in_machine systemctl stop discoverd.service
    check 'within 2 s' stopped_in_time
    until_true 20 'h2 is told of the end' grep -q '"removed".*"web on machine"' "$log"
    check 'the socket stays' is_active discoverd.socket
    check 'who asks starts the service' answers
    until_true 10 'started by its socket' is_active discoverd.service
    until_true 20 'h2 finds the service again' bash -c "grep '\"web on machine\"' '$log' | tail -n 1 | grep -q '\"added\"'"
    in_machine rm /etc/discoverd/services.d/web.yaml
}

check_reload() {
    local pid
    pid=$(main_pid)
    check 'reload' in_machine systemctl reload discoverd.service
    check 'a reload keeps the process' test "$(main_pid)" = "$pid"
    in_machine sh -c 'printf "services:\n  - name: \"%%h\"\n    type: _http._tcp\n    prot: 80\n" >/etc/discoverd/services.d/web.yaml'
    check 'systemctl reload fails with a broken file' reload_fails
    until_true 10 'a broken file is told with its line' journal_has 'services.d/web.yaml:[0-9]+: .*unknown key "prot"'
    until_true 10 'systemctl status tells of it' status_text_has 'services.d/web.yaml:'
    check 'discoverd reload tells of it, with status 78' reload_breaks_with_78
    check 'a broken file ends nothing' test "$(main_pid)" = "$pid"
    in_machine rm /etc/discoverd/services.d/web.yaml
    check 'reload again' in_machine discoverd reload
    until_true 10 'all is well again' in_machine discoverd status
    check 'a service that is broken by its configuration does not start' breaks_with_78
}

check_supervision() {
    local pid
    in_machine mkdir -p /run/systemd/system/discoverd.service.d
    in_machine sh -c 'printf "[Service]\nWatchdogSec=3\nTimeoutAbortSec=1\n" >/run/systemd/system/discoverd.service.d/fast.conf'
    in_machine systemctl daemon-reload
    check 'restart with a short watchdog' in_machine systemctl restart discoverd.service
    pid=$(main_pid)
    sleep 7
    check 'the watchdog is fed' test "$(main_pid)" = "$pid"
    in_machine kill -STOP "$pid"
    until_true 30 'the watchdog replaces a stopped process' has_new_pid "$pid"
    until_true 10 'the journal tells of the watchdog' journal_has 'Watchdog timeout'
    check 'the API answers after the watchdog' answers
    check 'the journal knows notices' priority_has notice 'serving'
    check 'warnings' priority_has warning 'nothing listens at TCP port 9001'
    check 'and errors' priority_has err 'the configuration is wrong'
    check 'and nothing of libraries' bash -c '! grep -q "thread priority"' < <(journal)
}

# The commands of docs/containers.md, which are its lines that begin with "# " in blocks.
commands_of_page() { awk '/^```/ { inside = !inside; next } inside && sub(/^# /, "")' "$page"; }

# by_page TEXT: runs the page's only command with this text in it.
by_page() {
    local command
    command=$(commands_of_page | grep -F -- "$1") && (($(wc -l <<<"$command") == 1)) || return 99
    echo "$command" >>"$root/of-page"
    in_machine bash -c "$command"
}

# What a container of each kind finds, and what h2 sees of it.
# The optional sockets: DNS, and the path of libnss-mdns, which avahi-daemon gets back.
asked_dns() { nsenter -t "$leader" -n dig @127.0.0.55 +tries=1 +timeout=3 +short "$@"; }
finds_by_dns() { [[ $(asked_dns +notcp h2.local A) == 10.99.0.2 && $(asked_dns +tcp h2.local A) == 10.99.0.2 ]]; }
answers_nss() { echo HELP | socat -t 5 - "UNIX-CONNECT:/proc/$leader/root/run/discoverd/nss.sock" | grep -q '^+ discoverd'; }
path_leads_to() { [[ $(in_machine readlink /run/avahi-daemon/socket) == "$1" ]]; }
check_names() {
    check 'the sockets for names are enabled' in_machine systemctl enable discoverd-dns.socket discoverd-nss.socket
    check 'and made at a restart' in_machine systemctl restart discoverd.service
    until_true 10 'the socket for DNS' is_active discoverd-dns.socket
    until_true 20 'names below local over DNS' finds_by_dns
    check 'avahi-daemon keeps its path' path_leads_to ''
    # Masked: discoverd's own questions over the bus would start it.
    check 'it ends' in_machine systemctl mask --runtime --now avahi-daemon.socket avahi-daemon.service
    until_true 20 'its path leads to discoverd' path_leads_to /run/discoverd/nss.sock
    check 'which answers there' answers_nss
    check 'it starts' in_machine sh -c \
        'systemctl unmask --runtime avahi-daemon.socket avahi-daemon.service && systemctl start avahi-daemon.socket avahi-daemon.service'
    until_true 20 'and has its path again' path_leads_to ''
    check 'without the sockets' in_machine sh -c \
        'systemctl disable discoverd-dns.socket discoverd-nss.socket && systemctl stop discoverd-dns.socket discoverd-nss.socket && systemctl restart discoverd'
    until_true 20 'the service is back' answers
}

check_containers() {
    local page=$here/../../docs/containers.md
    check 'a tree for containers' by_page 'mkdir '
    check 'with what it has in /usr' by_page 'ln '
    check 'and users' by_page 'cp /etc'
    check 'a container finds through the socket' finds_faraway '/run/discoverd discoverd browse'
    awk '/^```/ { inside = !inside; next } inside && !/^# /' "$page" >"$root/tree/etc/discoverd/box.yaml"
    in_machine sh -c 'cp /etc/discoverd/discoverd.yaml /root/ && cat /etc/discoverd/box.yaml >/etc/discoverd/discoverd.yaml'
    check 'the rules of the page are read' in_machine discoverd reload
    check 'who is named in a rule publishes' by_page '8080 --type _http._tcp --detach'
    until_true 15 'and h2 sees it' h2_sees boxed 10.99.0.1
    by_page '_ssh._tcp --detach' >/dev/null 2>&1
    check 'and nothing that the rule does not name' test $? = 77
    check 'it is withdrawn' in_machine discoverd unpublish boxed _http._tcp
    in_machine sh -c 'mv /root/discoverd.yaml /etc/discoverd/discoverd.yaml && rm /etc/discoverd/box.yaml && discoverd reload'
    check "a container in the host's network finds on the wire" finds_faraway '--bind-ro=/usr discoverd browse'
    by_page '--network-macvlan' >"$root/box.log" 2>&1 &
    other+=("$!")
    until_true 30 'a container with a network of its own publishes' h2_sees box 10.99.0.3
    in_machine pkill -TERM -x discoverd
    until_true 20 'and withdraws' h2_misses box 10.99.0.3
    check 'every command of docs/containers.md was run' diff <(commands_of_page | sort -u) <(sort -u "$root/of-page")
}

# To its end: two containers cannot share a tree.
finds_faraway() {
    local found
    found=$(by_page "$1") && grep -q faraway <<<"$found"
}

h2_misses() { ! h2_sees "$@"; }
# Not grep -q, which ends before avahi-browse has: that fails then.
h2_sees() { on_h2 avahi-browse -rpt _http._tcp | grep "^=.*;$1;.*;$2;" >/dev/null; }

# Units that say what they offer, as the shipped daemon reads them in its sandbox.
check_labels() {
    local unit=/etc/systemd/system/wiki.service
    in_machine sh -c 'cp /etc/discoverd/discoverd.yaml /root/
        printf "labels: systemd\naccess: {labels: {types: [_http._tcp], aliases: [wiki]}}\n" >/etc/discoverd/discoverd.yaml'
    in_machine sh -c "printf '[Unit]\nX-Discoverd-Publish=_http._tcp\nX-Discoverd-Port=8080\nX-Discoverd-Txt=path=/wiki\nX-Discoverd-Alias=wiki\n\
[Service]\nExecStart=/bin/sleep infinity\n' >$unit"
    check 'systemd takes lines of ours' in_machine sh -c "systemctl daemon-reload && ! journalctl -b | grep X-Discoverd"
    check 'a restart with labels' in_machine systemctl restart discoverd.service
    check 'a unit that does not run is not published' h2_misses wiki 10.99.0.1
    check 'it starts' in_machine systemctl start wiki.service
    until_true 15 'and h2 sees it' h2_sees wiki 10.99.0.1
    until_true 15 'and its alias' h2_resolves wiki.local 10.99.0.1
    in_machine systemctl stop wiki.service
    until_true 15 'it stops, and h2 misses it' h2_misses wiki 10.99.0.1
    in_machine sh -c "mkdir $unit.d && printf '[Unit]\nX-Discoverd-Publish=_ssh._tcp\n' >$unit.d/10.conf && systemctl daemon-reload &&
        systemctl start wiki.service"
    until_true 15 'a type that labels may not have' journal_has 'a label of "wiki" .systemd.: labels may not publish _ssh._tcp'
    check 'status shows it' status_has 'labels may not publish _ssh._tcp'
    in_machine sh -c "systemctl stop wiki.service; rm -r $unit $unit.d; systemctl daemon-reload
        mv /root/discoverd.yaml /etc/discoverd/discoverd.yaml; systemctl restart discoverd.service"
}

status_has() { in_machine discoverd status -v | grep -F -- "$1" >/dev/null; }
h2_resolves() { on_h2 avahi-resolve -4 -n "$1" | grep "$2\$" >/dev/null; }

check_removal() {
    check 'the package is removed' in_machine env DEBIAN_FRONTEND=noninteractive apt-get -qy remove discoverd
    check 'and nothing runs' is_not_active discoverd.service
    check 'nor the socket' in_machine test ! -e "$socket"
    check 'the configuration stays' in_machine test -e /etc/discoverd/discoverd.yaml
    check 'it installs again' in_machine env DEBIAN_FRONTEND=noninteractive apt-get -qy install /root/discoverd.deb
    until_true 15 'and answers' answers
    check 'the package is purged' in_machine env DEBIAN_FRONTEND=noninteractive apt-get -qy purge discoverd
    check 'and nothing is left' in_machine sh -c \
        '! ls -d /etc/discoverd /var/lib/discoverd /var/lib/discoverd-root /usr/libexec/discoverd /usr/bin/discoverd 2>/dev/null | grep -q .'
    check 'nor any unit' bash -c "! nsenter -t $leader -m -p -- systemctl list-unit-files | grep -q discoverd"
}

are_registered() {
    local answer
    answer=$(ask /v1/registrations) && (($(grep -o '"state":"established"' <<<"$answer" | wc -l) == 2))
}

status_text_has() { in_machine systemctl show -p StatusText --value discoverd.service | grep -q "$1"; }

# The system's own times: this machine may be slow to ask.
stopped_in_time() {
    local from to
    from=$(in_machine systemctl show -p ActiveExitTimestampMonotonic --value discoverd.service)
    to=$(in_machine systemctl show -p InactiveEnterTimestampMonotonic --value discoverd.service)
    ((from > 0 && to - from < 2000000))
}

units_are_valid() {
    local said
    said=$(in_machine systemd-analyze verify --man=no discoverd.service discoverd.socket discoverd-{dns,nss}.socket discoverd-nss.{path,service} 2>&1) && ! grep -F discoverd <<<"$said"
}

journal() { in_machine journalctl -q -u discoverd.service --no-pager -o cat "$@"; }
priority_has() { journal -p "$1..$1" | grep -q "$2"; }

reload_breaks_with_78() {
    local said
    said=$(in_machine discoverd reload 2>&1)
    [[ $? == 78 ]] && grep -q 'services.d/web.yaml:[0-9]*: .*unknown key "prot"' <<<"$said"
}

reload_fails() { ! in_machine systemctl reload discoverd.service; }

# Of /proc/PID/status: user ids, effective and bounding capabilities, and no way to new ones.
is_harmless() {
    local status
    status=$(in_machine cat "/proc/$(main_pid)/status") &&
        grep -qE '^Uid:\s+[1-9]' <<<"$status" && grep -qE '^CapEff:\s+0+$' <<<"$status" &&
        grep -qE '^CapBnd:\s+0+$' <<<"$status" && grep -qE '^NoNewPrivs:\s+1$' <<<"$status"
}

hears_other_host() { in_machine avahi-browse -rpt _witap._tcp | grep -q '^=.*;faraway;.*;10\.99\.0\.2;9000;'; }

sees_other_host() { ask '/v1/services?type=_witap._tcp' | grep -q '"name":"faraway"'; }

breaks_with_78() {
    in_machine sh -c 'echo "browser: []" >/etc/discoverd/services.d/x.yaml'
    in_machine systemctl restart discoverd.service
    local status
    status=$(in_machine systemctl show -p ExecMainStatus --value discoverd.service)
    in_machine rm /etc/discoverd/services.d/x.yaml
    in_machine systemctl reset-failed discoverd.service discoverd.socket
    in_machine systemctl start discoverd.socket
    [[ $status == 78 ]] && in_machine systemctl start discoverd.service
}

report() {
    echo "test-systemd: $passed passed, $failed failed"
    ((failed == 0)) && return
    in_machine journalctl -q --no-pager -n 80 -u discoverd.service -u discoverd.socket -o short-precise >&2
    exit 1
}

# The checks of an upgrade and of the way back, in the booted machine; sourced by `machine`.
# shellcheck shell=bash disable=SC2154

run_upgrade() {
    local log=$root/h2/browse.log
    check 'the old package installs' install_package old
    until_true 20 'its service has started' is_active discoverd.service
    old_version=$(version discoverd)
    check 'an old client hands services over' in_machine sh -c \
        'discoverd publish kept 9001 --type _http._tcp --txt path=/k --detach && discoverd publish also 9002 --type _ipp._tcp --detach'
    in_machine sh -c 'printf "name: configured\ntype: _http._tcp\nport: 80\n" >/etc/discoverd/services.d/web.yaml'
    check 'and one is configured' in_machine discoverd reload
    in_machine cp /usr/bin/discoverd /root/old
    browse_from_h2 "$log"

    check 'the new package installs over it' install_package discoverd
    until_true 20 'another version serves' serves_another_version "$old_version"
    new_version=$(version discoverd)
    echo "from $old_version to $new_version"
    in_machine cp /usr/bin/discoverd /root/new
    keeps 'after the upgrade'
    client_works /root/old 'an old client with the new daemon'
    client_works discoverd 'a new client with the new daemon'

    check 'the old package installs over the new one' install_package old
    until_true 20 'the old version serves' serves_version "$old_version"
    keeps 'after the way back'
    client_works /root/new 'a new client with the old daemon'
    # The browser holds an end back for 3.2 s: only then would it have told of one.
    sleep 5
    check 'h2 was told of no end, from the first package to the last' bash -c "! grep -q '\"removed\"' '$log'"
    in_machine discoverd unpublish kept _http._tcp
    until_true 20 'and would have been: it is told of one now' grep -q '"removed".*"kept"' "$log"
    check 'kept is handed over again' in_machine discoverd publish kept 9001 --type _http._tcp --txt path=/k --detach

    check 'the new one again' install_package discoverd
    until_true 20 'the new version serves' serves_version "$new_version"
    keeps 'after the second upgrade'
    check_newer_state
}

# PACKAGE.deb of /root; the way back is one for apt, too.
install_package() {
    in_machine env DEBIAN_FRONTEND=noninteractive apt-get -qy --allow-downgrades -o Dpkg::Options::=--force-confold install "/root/$1.deb"
}

version() { in_machine "$1" --version | head -n 1; }
served_version() { ask /v1/status | grep -o '"version":"[^"]*"'; }
serves_version() { [[ $(served_version) == *"\"${1##* }\""* ]]; }
serves_another_version() {
    local now
    now=$(served_version) && [[ -n $now && $now != *"\"${1##* }\""* ]]
}

# Not through on_h2: a function in the background is a shell, which would be killed instead. The program is the old one, which stays the same.
browse_from_h2() {
    env DBUS_SYSTEM_BUS_ADDRESS="unix:path=$root/h2/run/bus" "$root/tree/root/old" \
        browse _http._tcp --json --no-daemon --backend system >"$1" 2>&1 &
    other+=("$!")
    local name
    for name in kept configured; do until_true 20 "h2 finds $name" grep -q "\"added\".*\"$name\"" "$1"; done
}

all_established() {
    local list
    list=$(in_machine discoverd ls) || return
    [[ $(grep -c '^established' <<<"$list") == 3 ]] && grep -q $'\tkept\t' <<<"$list" && grep -q $'\talso\t' <<<"$list"
}
keeps() {
    until_true 20 "all three are published $1" all_established
    check "with their TXT records $1" bash -c "env DBUS_SYSTEM_BUS_ADDRESS=unix:path=$root/h2/run/bus avahi-browse -rpt _http._tcp | grep '^=.*;kept;.*path=/k'"
}

# client_works PROGRAM WHAT: each command that talks with the daemon.
client_works() {
    local program=$1 what=$2
    check "$what: browse" in_machine sh -c "$program browse _http._tcp -t | grep -q kept"
    check "$what: resolve" in_machine sh -c "$program resolve kept _http._tcp | grep -q 9001"
    check "$what: ls" in_machine sh -c "$program ls | grep -q kept"
    check "$what: status" in_machine "$program" status
    check "$what: publish" in_machine sh -c "$program publish passing 9003 --type _ssh._tcp --detach"
    check "$what: unpublish" in_machine sh -c "$program unpublish passing _ssh._tcp"
    check "$what: wait" in_machine sh -c "$program wait _witap._tcp --timeout 20"
}

# What a version after this one has written stays as it is.
check_newer_state() {
    local file=/var/lib/discoverd/registrations.json
    in_machine systemctl stop discoverd.service discoverd.socket
    in_machine sh -c "printf '{\"v\":2,\"all\":[]}\\n' >$file.newer && chown --reference=$file $file.newer && mv $file.newer $file"
    check 'a daemon does not start on the state of a newer version' bash -c "! nsenter -t $leader -m -u -i -n -p -C -- systemctl start discoverd.service"
    check 'with status 78' test "$(in_machine systemctl show -p ExecMainStatus --value discoverd.service)" = 78
    check 'and says why' journal_has 'of a newer discoverd'
    check 'and leaves it' in_machine grep -qx '{"v":2,"all":\[\]}' "$file"
}

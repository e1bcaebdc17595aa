#!/bin/bash
# Debian's podman for tests, as root, outside of a lab's user namespace and in the network of one of its hosts: podman.sh LAB HOST DIR.
# Serves its API at DIR/podman.sock and prints READY; runs each line of its input as `podman LINE`, and prints "done STATUS" and then what it
# said. Containers have no cgroups: this works where the machine has a tree of them that podman does not take. All of it ends with its input, or
# with this process.
set -euo pipefail
lab=$1 host=$2 dir=$3
if [[ ${4-} != inside ]]; then
    read -r init _ <"$lab/init"
    read -r holder <"/proc/$init/root/run/lab/$host.holder"
    exec nsenter "--net=/proc/$holder/ns/net" unshare --mount --propagation private --pid --fork --kill-child --mount-proc bash "$0" "$lab" "$host" "$dir" inside
fi
mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs tmpfs /run
mkdir -p "$dir/bin" "$dir/image/bin"
printf '%s\n' '[containers]' 'cgroups="disabled"' 'default_ulimits=["nofile=1024:1024","nproc=1024:1024"]' '[engine]' \
    'cgroup_manager="cgroupfs"' 'events_logger="file"' >"$dir/containers.conf"
export CONTAINERS_CONF=$dir/containers.conf
engine=(/usr/bin/podman --root "$dir/root" --runroot /run/podman-run --storage-driver vfs)
podman() { "${engine[@]}" "$@"; }
cp "$(command -v busybox)" "$dir/image/bin/busybox"
for name in sh httpd sleep test touch mkdir; do ln -s busybox "$dir/image/bin/$name"; done
tar -C "$dir/image" -c . | podman import - localhost/busybox >/dev/null 2>&1
serve() {
    rm -f "$dir/podman.sock"
    # Not by the function, which would be a shell to kill.
    "${engine[@]}" system service -t 0 "unix://$dir/podman.sock" >>"$dir/log" 2>&1 &
    service=$!
    until [[ -S $dir/podman.sock ]]; do sleep 0.1; done
    chmod 666 "$dir/podman.sock"
}
finish() {
    podman rm -af -t 0 >/dev/null 2>&1 || true
    kill "$service" 2>/dev/null || true
    wait
}
trap finish EXIT
serve
echo READY
while read -r line; do
    status=0
    case $line in
    stop-service) kill "$service" && wait "$service" 2>/dev/null || true ;;
    start-service) serve ;;
    *) eval "podman $line" >"$dir/said" 2>&1 </dev/null || status=$? ;;
    esac
    [[ $status == 0 ]] || cat "$dir/said"
    echo "done $status"
done

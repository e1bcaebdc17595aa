#!/usr/bin/env python3
"""Browses and resolves with python-zeroconf's asynchronous interface, as zc_browse.py does with the other one."""

import argparse
import asyncio
import json

from zeroconf import IPVersion, ServiceStateChange
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf


async def browse(kind, seconds, count):
    zc, names, tasks, all_there = AsyncZeroconf(ip_version=IPVersion.All), set(), set(), asyncio.Event()

    async def resolve(name):
        info = AsyncServiceInfo(kind, name)
        for _ in range(5):
            if await info.async_request(zc.zeroconf, 3000):
                break
        else:
            return
        short = name.removesuffix("." + kind)
        print(json.dumps({"event": "added", "name": short, "host": info.server, "port": info.port,
                          "addresses": info.parsed_scoped_addresses(IPVersion.All)}), flush=True)
        names.add(short)
        if len(names) >= count:
            all_there.set()

    def changed(zeroconf, service_type, name, state_change):
        if state_change is ServiceStateChange.Added:
            task = asyncio.ensure_future(resolve(name))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    browser = AsyncServiceBrowser(zc.zeroconf, [kind], handlers=[changed])
    try:
        await asyncio.wait_for(all_there.wait(), seconds)
    except asyncio.TimeoutError:
        pass
    for task in list(tasks):
        task.cancel()
    await browser.async_cancel()
    await zc.async_close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("type", help="_bench._tcp")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--count", type=int, default=1)
    options = parser.parse_args()
    asyncio.run(browse(options.type + ".local.", options.seconds, options.count))


if __name__ == "__main__":
    main()

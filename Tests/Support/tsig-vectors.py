#!/usr/bin/python3
"""Writes what TSIGTests compares with: messages signed by dnspython. Its output is in Tests/UnicastEngineTests/TSIGVectors.swift."""
import base64, time
import dns.message, dns.rcode, dns.tsig, dns.update

NOW = 1795303600
time.time = lambda: NOW
print("// Written by Tests/Support/tsig-vectors.py with dnspython.\n\nenum TSIGVectors {")
for number in ("256", "384", "512"):
    secret = base64.b64encode(b"secret-secret-secret-secret-1234").decode()
    key = dns.tsig.Key("Pub.home.example.org.", secret, "hmac-sha" + number)
    update = dns.update.Update("home.example.org.", id=0x1234)
    update.absent("tony._http._tcp")
    update.add("tony._http._tcp", 60, "TXT", '"path=/a b"')
    plain = update.to_wire()
    update.use_tsig(key)
    signed = update.to_wire()
    request = dns.message.from_wire(signed, keyring={key.name: key})
    answer = dns.message.make_response(request).to_wire()
    late = dns.message.make_response(request)
    late.set_rcode(dns.rcode.NOTAUTH)
    late.use_tsig(key, tsig_error=dns.rcode.BADTIME, other_data=(NOW + 600).to_bytes(6, "big"))
    late.request_mac = request.mac
    for name, bytes in (("plain", plain), ("signed", signed), ("answer", answer), ("late", late.to_wire())):
        lines = [bytes.hex()[i:i + 110] for i in range(0, len(bytes.hex()), 110)]
        print(f'    static let {name}{number} = """\n        ' + "\\\n        ".join(lines) + '\n        """')
print("}")

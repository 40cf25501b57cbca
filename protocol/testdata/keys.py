"""Makes keys.json: what another implementation must judge alike about keys of hosts.

It shares no code with parley. Run it with: python3 keys.py > keys.json
It needs the package cryptography.
"""
import base64, hashlib, json
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

RECORD = "0123456789abcdef0123456789abcdef01234567"


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def nkey(prefix, raw):
    data = bytes(prefix) + raw
    return base64.b32encode(data + crc16(data).to_bytes(2, "little")).decode().rstrip("=")


class Key:
    def __init__(self, name):
        raw = hashlib.sha256(name.encode()).digest()
        self.pair = Ed25519PrivateKey.from_private_bytes(raw)
        user = 20 << 3
        self.public = nkey([user], self.pair.public_key().public_bytes_raw())
        self.seed = nkey([18 << 3 | user >> 5, (user & 31) << 3], raw)

    def sign(self, text):
        return base64.urlsafe_b64encode(self.pair.sign(text.encode())).decode().rstrip("=")


def derive(*names):
    text = b"parley-direct-v1\0" + RECORD.encode() + b"\0" + b"\0".join(sorted(n.encode() for n in names))
    raw = bytearray(hashlib.sha256(text).digest()[:16])
    raw[6], raw[8] = raw[6] & 0x0F | 0x40, raw[8] & 0x3F | 0x80
    h = raw.hex()
    return "-".join([h[:8], h[8:12], h[12:16], h[16:20], h[20:]])


class Host:
    """A host that writes one chain, as one run for each key that it shows."""

    def __init__(self, alias, key, run):
        self.alias, self.key, self.run, self.seq, self.prev = alias, key, run, 0, ""

    def write(self, at, body, channel=None, sender=None, human=None):
        """at is minutes and seconds of the hour from 2026-05-23T19:00:00Z."""
        self.seq += 1
        channel = channel or derive("@hosts")
        rel = "2026/05/23/19%s000Z-%08x.md" % (at, self.seq + int(self.run[:4], 16))
        front = ["from: " + (sender or self.alias), "to: " + self.alias, "type: text",
                 "timestamp: 2026-05-23T19:%s:%s.000Z" % (at[:2], at[2:]), "host: " + self.alias,
                 'run: "%s"' % self.run, "seq: %d" % self.seq]
        if self.prev:
            front.append('prev: "%s"' % self.prev)
        if human:
            front.append("human: " + human)
        front.append("key: " + self.key.public)
        path = channel + "/" + rel
        sig = ""
        while not sig[:1].isalpha():  # any other may need quotes in YAML
            body += "\nnote: one line more" if sig else ""
            unsigned = "---\n" + "\n".join(front) + "\n---\n\n" + body + "\n"
            sig = self.key.sign("parley-v1\n%s\n%s\n%s" % (RECORD, path, unsigned))
        front.append("sig: " + sig)
        file = "---\n" + "\n".join(front) + "\n---\n\n" + body + "\n"
        self.prev = hashlib.sha256(file.encode()).hexdigest()
        return {"path": path, "file": file, "hash": self.prev, "run": self.run, "seq": self.seq}


def rotation(host, old, new, until):
    proof = new.sign("\n".join(["parley-rotate-v1", RECORD, host, old.public, new.public, ""]))
    return "HOST-ROTATE | host: %s\nkey: %s\nuntil: %s\nproof: %s" % (host, new.public, until, proof)


def join(host, human):
    return "HOST-JOIN | host: %s\nkey: %s\nhuman: %s" % (host.alias, host.key.public, human)


def revocation(by, of, *last):
    ends = "".join("\nlast: %s %d %s" % (m["run"], m["seq"], m["hash"]) for m in last)
    return "HOST-REVOKE | host: %s\nrevokes: %s %s%s" % (by.alias, of.alias, of.key.public, ends)


def story():
    k = {n: Key(n) for n in ["a", "b", "b2", "c", "d", "d2", "e", "f", "f2", "g", "g2", "h", "i", "thief", "thief2"]}
    talk = derive("eve", "nat")
    a, b, c = Host("a", k["a"], "0badcaf1"), Host("b", k["b"], "0badcaf2"), Host("c", k["c"], "0badcaf3")
    thief, copy = Host("b", k["thief"], "0badcaf4"), Host("b", k["b"], "0badcaf5")
    said = []

    def say(message, verdict, why):
        said.append({"path": message["path"], "file": message["file"], "verdict": verdict, "why": why})
        return message

    say(a.write("0000", join(a, "nat")), "valid", "the founder's join")
    say(b.write("0100", join(b, "eve")), "valid", "b has the key that the founder vouches for")
    say(thief.write("0010", join(thief, "mallory")), "refused", "an older join of b, with a key that nobody vouched for")
    say(a.write("0200", "HOST-VOUCH | host: a\nknows: b " + k["b"].public), "valid", "the founder vouches")
    say(b.write("0300", "before the rotation", talk, "eve"), "valid", "b's first key")
    say(b.write("0400", rotation("b", k["b"], k["b2"], "2026-05-23T19:10:00.000Z")), "valid", "the old key names the new one")
    b.key, b.run, b.seq = k["b2"], "0badcaf6", 0
    say(b.write("0500", "with the new key", talk, "eve"), "valid", "b's second key")
    say(copy.write("0900", "with the old key, in time", talk, "eve"), "valid", "the old key counts until 19:10")
    say(copy.write("1100", "with the old key, too late", talk, "eve"), "refused", "the old key counts no more")
    say(c.write("0600", join(c, "cat")), "valid", "nobody vouched for c: its earliest join counts")
    last = say(c.write("0700", "the last word that counts", talk, "cat"), "valid", "inside the revocation's limits")
    say(c.write("0630", "later in the chain, an older date", talk, "cat"), "refused", "outside the revocation's limits, whatever its date")
    twin = Host("c", k["c"], "0badcaf3")
    say(twin.write("0601", "in the place of the join", talk, "cat"), "refused", "a number that counts, but nothing that counts names it as what it follows")
    ends = "HOST-REVOKE | host: a\nrevokes: c %s\nlast: %s %d %s" % (k["c"].public, last["run"], last["seq"], last["hash"])
    say(a.write("1200", ends, human="nat"), "valid", "a human with whom the record was begun")
    say(copy.write("0901", "HOST-REVOKE | host: b\nrevokes: a " + k["a"].public, human="eve"), "valid", "signed well, and yet b may not revoke a key of a")
    d, e, f = Host("d", k["d"], "0badcaf7"), Host("e", k["e"], "0badcaf8"), Host("f", k["f"], "0badcaf9")
    say(d.write("1300", join(d, "dan")), "valid", "the first key of d, as a rotation to the one vouched for says")
    say(d.write("1310", rotation("d", k["d"], k["d2"], "2026-05-23T19:20:00.000Z")), "valid", "the old key names the new one")
    d.key, d.run, d.seq = k["d2"], "0badcafa", 0
    say(d.write("1320", "with the new key", talk, "dan"), "valid", "d's second key")
    say(a.write("1330", "HOST-VOUCH | host: a\nknows: d " + k["d2"].public), "valid", "a vouch for a later key does for the first")
    before = Host("e", k["thief"], "0badcafb")
    say(e.write("1400", join(e, "eli")), "valid", "e has joined with this key")
    say(before.write("1350", rotation("e", k["thief"], k["e"], "2026-05-23T19:50:00.000Z")), "refused", "no key comes before one that has joined")
    say(a.write("1410", "HOST-VOUCH | host: a\nknows: e " + k["e"].public), "valid", "the founder vouches for e")
    say(before.write("1420", "with a key of its own", talk, "eli"), "refused", "it is no key of e")
    stolen = Host("f", k["f"], "0badcafc")
    say(f.write("1500", join(f, "fay")), "valid", "f joins")
    say(a.write("1510", "HOST-VOUCH | host: a\nknows: f " + k["f"].public), "valid", "the founder vouches for f")
    say(stolen.write("1520", rotation("f", k["f"], k["thief2"], "2026-05-23T19:50:00.000Z")), "valid", "f's key signed it, in time, though it does not come to count")
    say(f.write("1530", rotation("f", k["f"], k["f2"], "2026-05-23T19:50:00.000Z")), "valid", "the rotation of f that counts")
    say(a.write("1540", "HOST-VOUCH | host: a\nknows: f " + k["f2"].public), "valid", "of two rotations the one counts that the founder vouched for")
    f.key, f.run, f.seq = k["f2"], "0badcafd", 0
    say(f.write("1550", "with the new key", talk, "fay"), "valid", "f's second key")
    heir = Host("f", k["thief2"], "0badcafe")
    say(heir.write("1600", "with the other one", talk, "fay"), "refused", "the thief's key never was f's")
    g, robber = Host("g", k["g"], "0badcb01"), Host("g", k["g"], "0badcb02")
    say(g.write("1700", join(g, "gus")), "valid", "g joins")
    say(a.write("1710", "HOST-VOUCH | host: a\nknows: g " + k["g"].public), "valid", "the founder vouches for g")
    kept = say(g.write("1720", "the last word that counts", talk, "gus"), "valid", "inside the limits that g itself has set")
    stolen = say(robber.write("1730", "the thief", talk, "gus"), "refused", "outside the limits, though another revocation leaves it in")
    say(g.write("1740", revocation(g, g, kept)), "valid", "the last key of g revokes itself")
    turn = say(robber.write("1731", rotation("g", k["g"], k["g2"], "2026-05-23T19:50:00.000Z")), "refused", "a revoked key gives g no other, whatever its date")
    say(robber.write("1732", revocation(g, g, kept, stolen, turn)), "valid", "dated back before the other; it counts, and softens nothing")
    h, crowd = Host("h", k["h"], "0badcb03"), Host("h", k["h"], "0badcb04")
    say(h.write("1800", join(h, "hal")), "refused", "more than four revocations of its own leave nothing in")
    say(a.write("1810", "HOST-VOUCH | host: a\nknows: h " + k["h"].public), "valid", "the founder vouches for h")
    kept = say(h.write("1820", "a word", talk, "hal"), "refused", "as its join")
    say(h.write("1830", revocation(h, h, kept)), "valid", "a revocation counts itself")
    for n in range(4):
        say(crowd.write("182%d" % (n + 1), revocation(h, h, kept)), "valid", "so does a thief's")
    i = Host("i", k["i"], "0badcb05")
    say(i.write("1900", join(i, "ida")), "refused", "the only end that leads to it is named for another run")
    say(a.write("1910", "HOST-VOUCH | host: a\nknows: i " + k["i"].public), "valid", "the founder vouches for i")
    there = say(i.write("1920", "a word", talk, "ida"), "refused", "as its join")
    say(a.write("1930", revocation(a, i, dict(there, run="0badcaf1")), human="nat"), "valid", "an end is a message of its run")
    return {
        "record": RECORD, "system": derive("@hosts"),
        "founder": {"alias": "a", "key": k["a"].public, "humans": ["nat"]},
        "keys": {"a": k["a"].public, "b": k["b2"].public, "c": k["c"].public, "d": k["d2"].public, "e": k["e"].public, "f": k["f2"].public, "g": k["g"].public, "h": k["h"].public, "i": k["i"].public}, "out": ["c", "g", "h", "i"], "messages": said,
    }


def letters():
    key = Key("a")
    letter = {"record": RECORD, "seed": key.seed, "key": key.public, "subject": "parley.demo.a.bell", "host": "a",
              "time": "2026-05-23T19:01:00.000Z", "re": "", "data": "tip"}
    letter["sig"] = key.sign("\n".join(["parley-letter-v1", RECORD, letter["subject"], "a", letter["time"], "", "tip"]))
    return [letter]


if __name__ == "__main__":
    print(json.dumps({"story": story(), "letters": letters()}, indent=2))

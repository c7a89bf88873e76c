"""Which shard owns a partition: Cassandra's Murmur3 token, and ScyllaDB's rule from token to shard."""

MASK = (1 << 64) - 1
C1, C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


def rotate(value, bits):
    return ((value << bits) | (value >> (64 - bits))) & MASK


def mix(value):
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & MASK
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & MASK
    return value ^ value >> 33


def word(data, start):
    """Up to eight bytes; Cassandra extends the sign of each byte of the last, incomplete block."""
    part = data[start:start + 8]
    if len(data) - len(data) % 16 > start:
        return int.from_bytes(part, "little")
    value = 0
    for place, byte in enumerate(part):
        signed = byte - 256 if byte > 127 else byte
        value ^= signed << 8 * place & MASK
    return value & MASK


def token(key):
    h1 = h2 = 0
    for start in range(0, len(key) - len(key) % 16, 16):
        k1, k2 = word(key, start), word(key, start + 8)
        h1 ^= rotate(k1 * C1 & MASK, 31) * C2 & MASK
        h1 = (rotate(h1, 27) + h2) * 5 + 0x52DCE729 & MASK
        h2 ^= rotate(k2 * C2 & MASK, 33) * C1 & MASK
        h2 = (rotate(h2, 31) + h1) * 5 + 0x38495AB5 & MASK
    tail = len(key) - len(key) % 16
    h2 ^= rotate(word(key, tail + 8) * C2 & MASK, 33) * C1 & MASK
    h1 ^= rotate(word(key, tail) * C1 & MASK, 31) * C2 & MASK
    h1 ^= len(key)
    h2 ^= len(key)
    h1 = h1 + h2 & MASK
    h2 = h2 + h1 & MASK
    return mix(h1) + mix(h2) & MASK


def composite(parts):
    return b"".join(len(part).to_bytes(2, "big") + part + b"\0" for part in parts)


def shard(parts, shards):
    return ((token(composite(parts)) + (1 << 63) & MASK) * shards) >> 64

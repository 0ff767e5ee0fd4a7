"""Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 4.3),
and the dropout masks drawn from it. Written from the paper; checked with the known answers of Random123."""

import numpy as np

WORD, LONG = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def philox4x32(counter, key):
    """Ten rounds on a counter of four words with a key of two words."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k0, p1 & WORD, (p0 >> 32) ^ c[3] ^ k1, p0 & WORD]
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c


# kat_vectors of the Random123 distribution: philox4x32 10.
assert philox4x32([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox4x32([WORD] * 4, [WORD] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
assert philox4x32([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]) == [
    0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def mix(x):
    """The finalizer of SplitMix64 (Steele, Lea, Flood 2014)."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & LONG
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & LONG
    return x ^ (x >> 31)


def substream(stream, number):
    return mix((stream + mix((number + 0x9E3779B97F4A7C15) & LONG)) & LONG)


def words(seed, stream, count):
    """The first `count` words of a stream. The counter is (block, stream), low words first; the key is the seed."""
    out = []
    for block in range((count + 3) // 4):
        out += philox4x32([block & WORD, block >> 32, stream & WORD, stream >> 32], [seed & WORD, seed >> 32])
    return np.array(out[:count], dtype=np.uint64)


def kept(seed, stream, call, count, p, row=None):
    """The elements that a dropout mask keeps, of `count`: those whose word is at least p 2^32."""
    stream = substream(stream, call)
    if row is not None:
        stream = substream(stream, row)
    return words(seed, stream, count) >= np.uint64(int(p * 2**32))

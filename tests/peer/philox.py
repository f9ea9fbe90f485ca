"""Philox 4x32-10 (Salmon et al. 2011) as the engine's tensor/philox.h uses it: number `offset` of a stream."""

import numpy

TASK = 11  # StreamId: random fields that a task adds

_MULTIPLY = (numpy.uint64(0xD2511F53), numpy.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = numpy.uint64(0xFFFFFFFF)
_HALF = numpy.uint64(32)


def words(offsets, seed, stream, substream):
    """The 32-bit words at these offsets, as u64."""
    offsets = numpy.asarray(offsets, dtype=numpy.uint64)
    index = offsets // numpy.uint64(4)
    counter = [index & _LOW, index >> _HALF, numpy.full_like(index, substream), numpy.full_like(index, stream)]
    key = [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF]
    for _ in range(10):
        first, second = counter[0] * _MULTIPLY[0], counter[2] * _MULTIPLY[1]
        counter = [(second >> _HALF) ^ counter[1] ^ numpy.uint64(key[0]), second & _LOW,
                   (first >> _HALF) ^ counter[3] ^ numpy.uint64(key[1]), first & _LOW]
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, _WEYL)]
    return numpy.choose((offsets % numpy.uint64(4)).astype(numpy.int64), counter)


def bounded(offsets, bound, seed, stream, substream):
    """Whole numbers in [0, bound)."""
    return ((words(offsets, seed, stream, substream) * numpy.asarray(bound, dtype=numpy.uint64)) >> _HALF).astype(numpy.int64)


class Draw:
    """Numbers of a stream one after another."""

    BLOCK = 4096

    def __init__(self, seed, stream, substream):
        self.place, self.next, self.words = (seed, stream, substream), 0, []

    def word(self):
        if self.next == len(self.words):
            self.words += words(numpy.arange(self.next, self.next + self.BLOCK), *self.place).tolist()
        self.next += 1
        return self.words[self.next - 1]

    def below(self, bound):
        return self.word() * bound >> 32

    def one_in(self, chances):
        return self.below(chances) == 0

    def fraction(self):
        return self.word() * 2.0**-32

    def many_below(self, bound, count):
        return numpy.array([self.below(bound) for _ in range(count)], dtype=numpy.int64)



class Masks:
    """Dropout masks of the step: Philox 4x32-10 (Salmon et al. 2011), keyed by the run's seed; number `offset` of the
    substream that is the step's number."""

    STREAM = 3
    MULTIPLY = (0xD2511F53, 0xCD9E8D57)
    WEYL = (0x9E3779B9, 0xBB67AE85)
    LOW = 0xFFFFFFFF

    def __init__(self, seed, step):
        self.key, self.step = (seed & self.LOW, seed >> 32 & self.LOW), step

    def words(self, offsets):
        def multiply(a, b):
            low, high = (a & 0xFFFF) * b, (a >> 16) * b  # below 2^48
            sum_ = (low >> 16) + high  # below 2^49: the product without its lowest 16 bits
            return sum_ >> 16, (sum_ << 16 | low & 0xFFFF) & self.LOW

        index = offsets // 4
        c = [index & self.LOW, index >> 32, torch.full_like(index, self.step), torch.full_like(index, self.STREAM)]
        key = self.key
        for _ in range(10):
            (high0, low0), (high2, low2) = multiply(c[0], self.MULTIPLY[0]), multiply(c[2], self.MULTIPLY[1])
            c = [high2 ^ c[1] ^ key[0], low2, high0 ^ c[3] ^ key[1], low0]
            key = tuple(k + w & self.LOW for k, w in zip(key, self.WEYL))
        return torch.stack(c).gather(0, (offsets % 4)[None])[0]

    def kept(self, first, shape, p):
        """1 where a value stays."""
        words = self.words(torch.arange(first, first + math.prod(shape)))
        return ((words >> 8).double() * 2.0 ** -24 >= p).reshape(shape)


def dropout(x, p, masks, first):
    """Drops values by the numbers from `first` on."""
    if p == 0:
        return x
    return x * masks.kept(first, x.shape, p).to(x.device, x.dtype) * (1 / (1 - p))

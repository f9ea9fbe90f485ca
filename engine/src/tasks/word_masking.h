#pragma once

#include "data/schema.h"

namespace engine {

/// Tokens of a window that are masked: 15 in 100, rounded to the nearest whole number, and at least
/// one. Follows from the window's length alone, so that batches of one shape have as many.
std::int64_t masked_count(std::int64_t window);

/// BERT's rule (Devlin et al. 2018) for the field that it is attached to: masked_count() tokens are
/// chosen without replacement; of these 8 in 10 become [MASK], 1 in 10 a word drawn from the
/// vocabulary, 1 in 10 stay. `original` receives the window as it was, and the first masked_count()
/// of `places` the chosen positions in ascending order, the others 0.
///
/// Numbers follow from seed, epoch and position in the epoch; an evaluation draws the same masks
/// each time, from a stream that no epoch has.
class WordMasking final : public SampleTransform {
public:
    struct Fields {
        std::size_t original, places;
    };
    /// `mask`: the id of [MASK]; `words`: the vocabulary's words are below it.
    WordMasking(const Fields& fields, std::int64_t mask, std::int64_t words, bool training)
        : fields_(fields), mask_(mask), words_(words), training_(training) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    Fields fields_;
    std::int64_t mask_, words_;
    bool training_;
};

}  // namespace engine

#pragma once

#include "data/dataset.h"
#include "tensor/philox.h"

namespace engine {

/// Clicks that a known rule decides. A sample has 13 numbers x, standard normal, and an id of each
/// table, the low ids more often than the high ones: id = floor(rows * u^3). It is clicked with the
/// probability of the logit
///   -1.3 + sum_j w_j x_j + (sum_t s_t(id_t) + sum_t dot(v_t(id_t), v_t+1(id_t+1))) / sqrt(tables)
/// with w_j = 0.3 cos(j), each table's s uniform in [-3, 3) and v of three numbers uniform in
/// [-1.5, 1.5): drawn for each id from the stream of the table, whatever the run's seed. Sample i
/// is a pure function of (seed, stream, i), made when it is read.
class ClicksGeneratedDataset final : public Dataset {
public:
    static constexpr std::int64_t train_size = 200000;
    static constexpr std::int64_t test_size = 50000;
    static constexpr std::int64_t numbers = 13;

    /// `stream` is clicks_train or clicks_test.
    ClicksGeneratedDataset(std::int64_t seed, StreamId stream, std::int64_t size,
                           std::int64_t tables, std::int64_t rows);

    std::int64_t size() const override { return size_; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override;
    void guide(InputGuide& guide) const override;

    /// The logit that decides the click of sample `index`.
    double logit(std::int64_t index) const;

private:
    struct Sample;
    Sample sample(std::int64_t index) const;
    double logit(const Sample& sample) const;

    Schema schema_;
    std::int64_t seed_, size_, tables_, rows_;
    StreamId stream_;
};

}  // namespace engine

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "needs_cuda.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "step_support.h"
#include "tensor/cast.h"
#include "train/step/evaluator.h"
#include "train/step/step_graph.h"

// Samples with different numbers of rows, from the data set through collator and feed to captured
// steps and evaluation.
namespace engine {
namespace {

using test::cuda;
using test::number_of;
using test::StepFixture;

constexpr std::int64_t capacity = 4, width = 3;

/// "points" is masked, "items" is packed, and the target is the sum of all their numbers.
Schema bags() {
    Schema schema;
    schema.add({.name = "points", .shape = {capacity, width}, .ragged = Ragged::masked});
    schema.add({.name = "items", .shape = {capacity, width}, .ragged = Ragged::packed});
    schema.add({.name = "target", .kind = FieldKind::value, .shape = {1}});
    return schema;
}

/// Sample i has i % 5 points and (i + 2) % 5 items.
class Bags final : public Dataset {
public:
    std::int64_t size() const override { return 48; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override {
        float total = 0;
        for (const std::size_t field : {points, items}) {
            const std::int64_t rows = rows_of(index, field);
            const auto values = out.f32(field);
            for (std::size_t e = 0; e < static_cast<std::size_t>(rows * width); ++e) {
                values[e] = number_of(index, field, e);
                total += values[e];
            }
            out.set_rows(field, rows);
        }
        out.f32(target)[0] = total;
    }
    static std::int64_t rows_of(std::int64_t index, std::size_t field) {
        return (index + (field == points ? 0 : 2)) % (capacity + 1);
    }
    static constexpr std::size_t points = 0, mask = 1, items = 2, offsets = 3, target = 4;

private:
    Schema schema_ = bags();
};

/// Sums a linear map of each row. Values after a sample's rows must not count.
class RowSums final : public Model {
public:
    explicit RowSums(const Device& device)
        : Model(3, device),
          points_(registry_, "points", width, 1),
          items_(registry_, "items", width, 1) {}
    /// {points, mask, items} -> {(batch, 1), 0-d}: the sum over the points of each sample, and over
    /// all items.
    TensorList forward(const TensorList& in) override {
        const std::int64_t rows = in[0].size(0);
        const Tensor each =
            reshape(points_(reshape(in[0], {rows * capacity, width})), {rows, capacity});
        return {reshape(sum(mul(each, to(in[1], each.dtype())), {1}), {rows, 1}),
                sum(linear_without_bias(in[2]))};
    }

private:
    /// The rows after the last one are zeros, which map to zero.
    Tensor linear_without_bias(const Tensor& x) const { return mul(x, items_.weight); }

    Linear points_, items_;
};

class BagTask final : public Task {
public:
    const Schema& schema(bool) const override { return schema_; }
    ModelShape model_shape() const override { return {}; }
    TensorList losses(TaskStep& step) override {
        const TensorList out = step.forward(
            TensorList{step.batch[Bags::points], step.batch[Bags::mask], step.batch[Bags::items]});
        const Tensor loss = add(mse_loss(out[0], step.batch[Bags::target]), mul(out[1], 0.01));
        add_loss(step, loss, step.batch.rows);
        add_squares(step, 0, out[0], step.batch[Bags::target]);
        return {loss};
    }

private:
    Schema schema_ = bags();
};

std::unique_ptr<StepFixture> fixture_on(const Device& device, const std::string& precision) {
    RunConfig config = test::pair_run(precision);
    config.optimizer.options["lr"] = 0.01;
    return std::make_unique<StepFixture>(config, std::make_unique<BagTask>(),
                                         std::make_unique<RowSums>(device), device,
                                         std::make_shared<Bags>());
}

/// Expects that a batch has the rows of the data set's samples.
void expect_rows(const DeviceBatch& batch, const std::vector<std::int64_t>& indices) {
    ASSERT_EQ(batch.fields.size(), 5u);
    const auto rows = static_cast<std::int64_t>(indices.size());
    EXPECT_EQ(batch[Bags::points].shape(), (Shape{rows, capacity, width}));
    EXPECT_EQ(batch[Bags::mask].shape(), (Shape{rows, capacity}));
    EXPECT_EQ(batch[Bags::items].shape(), (Shape{rows * capacity, width}));
    EXPECT_EQ(batch[Bags::offsets].shape(), (Shape{rows + 1}));
    const auto points = batch[Bags::points].values(), mask = batch[Bags::mask].values(),
               items = batch[Bags::items].values(), offsets = batch[Bags::offsets].values();
    std::size_t packed = 0;
    for (std::size_t r = 0; r < indices.size(); ++r) {
        EXPECT_EQ(offsets[r], static_cast<double>(packed));
        for (std::size_t k = 0; k < capacity; ++k) {
            const bool filled =
                static_cast<std::int64_t>(k) < Bags::rows_of(indices[r], Bags::points);
            EXPECT_EQ(mask[r * capacity + k], filled);
            for (std::size_t e = 0; e < width; ++e)
                EXPECT_EQ(
                    points[(r * capacity + k) * width + e],
                    filled ? static_cast<double>(number_of(indices[r], Bags::points, k * width + e))
                           : 0);
        }
        for (std::int64_t k = 0; k < Bags::rows_of(indices[r], Bags::items); ++k, ++packed)
            for (std::size_t e = 0; e < width; ++e)
                EXPECT_EQ(items[packed * width + e],
                          static_cast<double>(number_of(indices[r], Bags::items,
                                                        static_cast<std::size_t>(k) * width + e)));
    }
    EXPECT_EQ(offsets.back(), static_cast<double>(packed));
    for (std::size_t i = packed * width; i < items.size(); ++i) ASSERT_EQ(items[i], 0);
}

TEST(RaggedStep, TheFeedBringsEachSamplesRowsAndZerosBehindThem) {
    const auto fixture = fixture_on(default_device(), "fp32");
    // The collator and the ring reuse their buffers for batches with other numbers of rows.
    for (int i = 0; i < 6; ++i) {
        fixture->make(i);
        const DeviceBatch batch = fixture->feed->upload(fixture->batches[0]);
        expect_rows(batch, fixture->batches[0].indices);
        fixture->feed->used(batch);
    }
}

TEST(RaggedStep, IsReplayedWithTheNumbersOfEagerSteps) {
    HALFTONE_NEEDS_CUDA();
    for (const char* precision : {"fp32", "amp-fp16"}) {
        SCOPED_TRACE(precision);
        const auto eager = fixture_on(cuda, precision), recorded = fixture_on(cuda, precision);
        StepGraph graph(*recorded->step, recorded->task->schema(true), cuda, 8, 1);
        for (int i = 0; i < 9; ++i) {
            SCOPED_TRACE(i);
            eager->make(i);
            recorded->make(i);
            const auto expected = eager->compute();
            if (graph.prepare(recorded->batches)) {
                const RunContext::Entry entered(recorded->context);
                graph.replay(recorded->batches, *recorded->feed);
            } else {
                (void)recorded->compute();
            }
            const auto found = recorded->step->figures().host();
            EXPECT_EQ(found.sums.loss, expected.sums.loss);
            EXPECT_EQ(found.sums.values[0], expected.sums.values[0]);
            EXPECT_EQ(recorded->weights(), eager->weights());
        }
        EXPECT_EQ(graph.replays(), 9 - 3);
    }
}

TEST(RaggedStep, PaddingHasNoPartInStepsAndEvaluation) {
    const auto fixture = fixture_on(default_device(), "fp32");
    Evaluator evaluator(*fixture->task, *fixture->model, fixture->step->precision(),
                        default_device());
    const auto a = fixture->model->parameters()[0].tensor.values();
    const double bias = fixture->model->parameters()[1].tensor.values()[0];
    double squares = 0, targets = 0;
    for (int i = 0; i < 3; ++i) {
        fixture->make(i);
        evaluator.add(fixture->batches[0], *fixture->feed);
        for (const std::int64_t index : fixture->batches[0].indices) {
            double wanted = 0, found = 0;
            for (const std::size_t field : {Bags::points, Bags::items}) {
                for (std::int64_t k = 0; k < Bags::rows_of(index, field); ++k) {
                    if (field == Bags::points) found += bias;
                    for (std::size_t e = 0; e < width; ++e) {
                        const auto value = static_cast<double>(
                            number_of(index, field, static_cast<std::size_t>(k) * width + e));
                        wanted += value;
                        if (field == Bags::points) found += a[e] * value;
                    }
                }
            }
            squares += (found - wanted) * (found - wanted);
            targets += wanted;
        }
    }
    const MetricSums sums = evaluator.take();
    EXPECT_EQ(sums.weight, 24);
    EXPECT_NEAR(sums.values[0], squares, 1e-5 * squares);
    EXPECT_NEAR(sums.values[1], targets, 1e-5);
    fixture->make(0);
    const auto figures = fixture->compute();
    EXPECT_TRUE(std::isfinite(figures.sums.loss));
    EXPECT_EQ(figures.sums.weight, 8);
}

}  // namespace
}  // namespace engine

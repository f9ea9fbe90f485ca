// Images whose size goes by the batch, and masked fields on several threads.
#include "data/loader/collator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "engine/base/error.h"
#include "support/expectations.h"

namespace engine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

/// Sample i is (2 + i % 5) high and 3 wide, in training one wider at odd places; all of its pixels
/// are i + 1, the rest of the canvas 0. It has i % 3 boxes.
class SizedPictures final : public Dataset {
public:
    explicit SizedPictures(std::set<std::int64_t> damaged = {}) : damaged_(std::move(damaged)) {
        schema_.add({.name = "image", .kind = FieldKind::image, .shape = {1, 6, 4}, .by_batch = true});
        schema_.add({.name = "boxes",
                     .kind = FieldKind::boxes,
                     .shape = {2, 4},
                     .ragged = Ragged::masked});
    }

    std::int64_t size() const override { return 20; }
    const Schema& schema() const override { return schema_; }
    bool decodes() const override { return true; }
    bool skips_damaged() const override { return true; }
    void read(std::int64_t index, const SampleFields& out) const override { put(index, out, 3); }
    void read_augmented(std::int64_t index, const SampleFields& out,
                        const SamplePlace& place) const override {
        put(index, out, place.position % 2 == 1 ? 4 : 3);
    }
    CanvasSize canvas(std::span<const std::int64_t> indices,
                      const SamplePlace* first) const override {
        CanvasSize out{0, 3};
        for (std::size_t i = 0; i < indices.size(); ++i) {
            out.height = std::max(out.height, 2 + indices[i] % 5);
            if (first != nullptr && (first->position + i) % 2 == 1) out.width = 4;
        }
        return out;
    }

private:
    void put(std::int64_t index, const SampleFields& out, std::int64_t width) const {
        if (damaged_.contains(index)) throw DamagedSample(ErrorCode::data, "damaged");
        const CanvasSize canvas = out.canvas(0);
        std::ranges::fill(out.f32(0), 0.0F);
        for (std::int64_t y = 0; y < std::min(2 + index % 5, canvas.height); ++y)
            for (std::int64_t x = 0; x < width; ++x)
                out.f32(0)[static_cast<std::size_t>(y * canvas.width + x)] =
                    static_cast<float>(index + 1);
        std::ranges::fill(out.f32(1), static_cast<float>(index + 1));
        out.set_rows(1, index % 3);
    }

    Schema schema_;
    std::set<std::int64_t> damaged_;
};

struct Loaded {
    explicit Loaded(LoaderOptions options, bool training = false,
                    const std::set<std::int64_t>& damaged = {})
        : data(std::make_shared<SizedPictures>(damaged)), collator({data}, schema(training), options) {}
    Schema schema(bool training) const {
        Schema out = data->schema();
        out.augmented = training;
        return out;
    }
    Batch make(std::int64_t index) {
        Batch out;
        collator.make(out, 0, index);
        return out;
    }
    std::shared_ptr<SizedPictures> data;
    Collator collator;
};

LoaderOptions in_order(std::int64_t batch_size, std::int64_t threads = 1) {
    return {.sampler = {.batch_size = batch_size, .shuffle = false}, .threads = threads};
}

TEST(CollatorCanvas, IsThatOfTheRowsOfTheBatch) {
    Loaded loaded(in_order(2));
    const Batch first = loaded.make(0), second = loaded.make(1);  // samples 0, 1 and 2, 3
    EXPECT_EQ(first.fields[0].shape, (Shape{2, 1, 3, 3}));
    EXPECT_EQ(second.fields[0].shape, (Shape{2, 1, 5, 3}));
    EXPECT_EQ(second.fields[0].bytes.size(), 2 * 5 * 3 * sizeof(float));
    const auto pixels = second.fields[0].values<float>();
    EXPECT_THAT(pixels.first(12), Each(3.0F)) << "4 rows";
    EXPECT_THAT(pixels.subspan(12, 3), Each(0.0F));
    EXPECT_THAT(pixels.subspan(15, 15), Each(4.0F));
}

TEST(CollatorCanvas, FollowsTheRandomSizesOfTraining) {
    Loaded loaded(in_order(1), /*training=*/true);
    EXPECT_EQ(loaded.make(2).fields[0].shape, (Shape{1, 1, 4, 3}));
    EXPECT_EQ(loaded.make(3).fields[0].shape, (Shape{1, 1, 5, 4}));
}

TEST(CollatorCanvas, OnlyBatchesOfTheFirstOnesShapeAreFull) {
    Loaded loaded(in_order(2));
    std::vector<bool> full;
    for (std::int64_t i = 0; i < 10; ++i) full.push_back(loaded.make(i).full);
    // Largest heights 3, 5, 6, 4, 6, 3, 5, 6, 4, 6.
    EXPECT_THAT(full, ElementsAre(true, false, false, false, false, true, false, false, false, false));
    EXPECT_TRUE(loaded.make(0).full) << "in any order of calls";
}

TEST(CollatorCanvas, HasRoomForASampleInADamagedOnesPlace) {
    Loaded loaded(in_order(2), false, {1});
    const Batch batch = loaded.make(0);  // 0, and 2 in the place of 1
    EXPECT_THAT(batch.indices, ElementsAre(0, 2));
    EXPECT_EQ(batch.fields[0].shape, (Shape{2, 1, 4, 3}));
    EXPECT_THAT(batch.fields[0].values<float>().subspan(12), Each(3.0F));
    ASSERT_EQ(batch.replaced.size(), 1u);
    EXPECT_EQ(batch.replaced[0].index, 1);
}

TEST(CollatorCanvas, StaysWhereADamagedSampleIsLeftOut) {
    LoaderOptions options = in_order(3);
    options.leave_out_damaged = true;
    Loaded loaded(options, false, {1});
    const Batch batch = loaded.make(0);
    EXPECT_EQ(batch.fields[0].shape, (Shape{2, 1, 4, 3}));
    EXPECT_THAT(batch.fields[0].values<float>().subspan(12), Each(3.0F));
    EXPECT_EQ(batch.fields[1].shape, (Shape{2, 2, 4}));
    EXPECT_THAT(batch.fields[2].values<std::uint8_t>(), ElementsAre(0, 0, 1, 1));
}

TEST(CollatorCanvas, IsThatOfARanksOwnRows) {
    LoaderOptions options = in_order(4);
    options.ranks = 2;
    Loaded first(options);
    options.rank = 1;
    Loaded second(options);
    EXPECT_EQ(first.make(0).fields[0].shape, (Shape{2, 1, 3, 3}));
    EXPECT_EQ(second.make(0).fields[0].shape, (Shape{2, 1, 5, 3}));
}

TEST(CollatorCanvas, MaskedFieldsAreTheSameOnAnyNumberOfThreads) {
    Loaded one(in_order(7), true), four(in_order(7, 4), true);
    for (std::int64_t i = 0; i < 3; ++i) {
        const Batch a = one.make(i), b = four.make(i);
        for (std::size_t f = 0; f < 3; ++f) EXPECT_EQ(a.fields[f].bytes, b.fields[f].bytes) << f;
        for (std::size_t row = 0; row < a.indices.size(); ++row) {
            const auto mask = a.fields[2].values<std::uint8_t>().subspan(row * 2, 2);
            EXPECT_EQ(mask[0] + mask[1], a.indices[row] % 3);
            const auto boxes = a.fields[1].values<float>().subspan(row * 8, 8);
            for (std::size_t k = 0; k < 2; ++k)
                EXPECT_THAT(boxes.subspan(k * 4, 4),
                            Each(mask[k] != 0 ? static_cast<float>(a.indices[row] + 1) : 0.0F));
        }
    }
}

TEST(CollatorCanvas, GoesIntoTheSchemaOfACapture) {
    Loaded loaded(in_order(2));
    const Batch first = loaded.make(0);
    const Schema schema = with_canvas(loaded.data->schema(), first);
    EXPECT_EQ(schema.fields[0].shape, (Shape{1, 3, 3}));
    EXPECT_EQ(schema.fields[1].shape, (Shape{2, 4}));
    const DeviceBatch captured = empty_batch(Device{}, schema, 2);
    EXPECT_TRUE(has_canvas_of(captured, schema, loaded.make(5)));
    EXPECT_FALSE(has_canvas_of(captured, schema, loaded.make(1)));
}

}  // namespace
}  // namespace engine

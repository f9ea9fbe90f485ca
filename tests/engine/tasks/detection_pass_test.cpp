#include "tasks/detection_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "made_models.h"
#include "model_golden.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "support/golden_file.h"
#include "tensor/cast.h"

// Losses, gradients and detections of a small Mask R-CNN against torchvision's, as
// tests/peer/detection_model.py writes them, with how far ours may be from its.
namespace engine::test::detection {
namespace {

using Sizes = std::vector<std::int64_t>;

const GoldenFile& detector_golden() {
    static const GoldenFile file("detection_model");
    return file;
}

struct Object {
    std::int64_t left, top, right, bottom, label;
};
using Objects = std::vector<std::vector<Object>>;
const Objects usual{{{10, 8, 50, 60, 1}, {40, 30, 120, 90, 2}, {70, 5, 92, 25, 3}},
                    {{5, 5, 35, 85, 2}}};

constexpr std::int64_t height = 96, width = 128, most_objects = 3, classes = 4;
constexpr std::int64_t picture_sizes[2][2] = {{96, 128}, {90, 100}};

/// The script's value().
std::vector<float> weight(std::uint32_t stream, const Parameter& of) {
    const bool matrix = of.tensor.rank() > 1;
    const auto has = [&](const char* part) { return of.name.find(part) != of.name.npos; };
    const double gain = has("cls_logits") || has("bbox_pred") || has("cls_score") ? 0.3 : 1;
    const bool scale = of.name.ends_with("running_var") || of.name.ends_with(".weight");
    const auto fan_in = static_cast<double>(of.tensor.numel() / of.tensor.size(0));
    const double factor = matrix ? gain * std::sqrt(3.0 / fan_in) : scale ? 0.25 : 0.1;
    const double middle = !matrix && scale ? 1 : 0;
    std::vector<float> values(static_cast<std::size_t>(of.tensor.numel()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(uniform(stream, static_cast<std::uint32_t>(i)) * factor +
                                       middle);
    return values;
}

std::unique_ptr<Model> small_detector(const std::string& norm, bool masks) {
    Options options{{"norm", norm},
                    {"masks", masks},
                    {"pyramid_channels", std::int64_t{16}},
                    {"hidden", std::int64_t{32}},
                    {"mask_layers", Sizes{16}},
                    {"proposals_before", Sizes{20, 12}},
                    {"proposals_after", Sizes{40, 24}}};
    auto model = made_model("maskrcnn-resnet18", options, pictures({3, height, width}, classes),
                            std::nullopt);
    // Eleven million numbers: drawn once for each list of tensors.
    static std::map<std::pair<std::string, bool>, std::vector<std::vector<float>>> kept;
    auto& drawn = kept[{norm, masks}];
    std::size_t at = 0;
    const auto fill = [&](const Parameter& each) {
        if (at == drawn.size()) drawn.push_back(weight(static_cast<std::uint32_t>(at) + 1, each));
        each.tensor.copy_from_host(drawn[at++].data());
    };
    for (const Parameter& each : model->parameters()) fill(each);
    for (const Parameter& each : model->buffers())
        if (is_floating(each.tensor.dtype())) fill(each);
    return model;
}

Tensor whole(const Sizes& values, const Shape& shape) {
    const Tensor out = Tensor::empty(shape, DType::i64, Device{});
    out.copy_from_host(values.data());
    return out;
}

/// The script's pictures, each with an ellipse in every object's box.
Scenes made_scenes(const Objects& objects) {
    Scenes out;
    std::vector<double> pixels(2 * 3 * height * width, 0), boxes(2 * most_objects * 4, 0);
    Sizes sizes, labels(2 * most_objects, 0), places(2 * most_objects * 5, 0);
    constexpr std::size_t words = 512;
    Sizes bits(2 * words, 0);
    for (std::size_t n = 0; n < 2; ++n) {
        const auto [h, w] = picture_sizes[n];
        sizes.insert(sizes.end(), {h, w, h, w});
        std::uint32_t index = 0;
        for (std::int64_t c = 0; c < 3; ++c)
            for (std::int64_t y = 0; y < h; ++y)
                for (std::int64_t x = 0; x < w; ++x)
                    pixels[static_cast<std::size_t>(
                        ((static_cast<std::int64_t>(n) * 3 + c) * height + y) * width + x)] =
                        static_cast<float>(uniform(1000 + static_cast<std::uint32_t>(n), index++));
        std::size_t used = 0;
        for (std::size_t g = 0; g < objects[n].size(); ++g) {
            const Object& object = objects[n][g];
            const std::size_t row = n * most_objects + g;
            const std::int64_t ow = object.right - object.left, oh = object.bottom - object.top;
            const double corners[] = {
                static_cast<double>(object.left), static_cast<double>(object.top),
                static_cast<double>(object.right), static_cast<double>(object.bottom)};
            std::copy_n(corners, 4, &boxes[row * 4]);
            labels[row] = object.label;
            const std::int64_t place[] = {object.left, object.top, ow, oh,
                                          static_cast<std::int64_t>(used)};
            std::copy_n(place, 5, &places[row * 5]);
            const auto each = static_cast<std::size_t>((ow + 63) / 64);
            for (std::int64_t y = 0; y < oh; ++y, used += each)
                for (std::int64_t x = 0; x < ow; ++x) {
                    const std::int64_t dx = 2 * x + 1 - ow, dy = 2 * y + 1 - oh;
                    if (dx * dx * oh * oh + dy * dy * ow * ow <= ow * ow * oh * oh)
                        bits[n * words + used + static_cast<std::size_t>(x / 64)] |=
                            static_cast<std::int64_t>(std::uint64_t{1} << (x % 64));
                }
        }
    }
    out.images = Tensor::of(pixels, {2, 3, height, width}, DType::f32, Device{});
    out.sizes = whole(sizes, {2, 4});
    out.boxes = Tensor::of(boxes, {2, most_objects, 4}, DType::f32, Device{});
    out.labels = whole(labels, {2, most_objects});
    out.places = whole(places, {2, most_objects, 5});
    out.bits = whole(bits, {2, words});
    out.draws = whole({0x123456789ABCDEF, 0x0FEDCBA987654321}, {2});
    return out;
}

DetectionPass pass_of(Model& model, const Scenes& scenes, const Proposals* given = nullptr,
                      TeachBoxes geometry = TeachBoxes::intact) {
    const DeviceBatch none;
    return detect(TaskStep(model, none, {}, nullptr), scenes, given, geometry);
}

std::vector<double> losses_of(const DetectionPass& pass) {
    std::vector<double> out{pass.classifier.item(), pass.box_reg.item()};
    if (pass.mask.defined()) out.push_back(pass.mask.item());
    out.insert(out.end(), {pass.objectness.item(), pass.rpn_box_reg.item()});
    return out;
}

struct GoldenCase {
    const char* name;
    const char* norm;
    bool masks;
    Objects objects;
};

void expect_losses(const DetectionPass& pass, const std::vector<double>& wanted) {
    std::vector<double> losses = losses_of(pass);
    losses.push_back(pass.total.item());
    ASSERT_EQ(wanted.size(), 2 * losses.size());
    for (std::size_t i = 0; i < losses.size(); ++i)
        EXPECT_NEAR(losses[i], wanted[2 * i], wanted[2 * i + 1]) << "loss " << i;
}

/// `scale`: of the loss that went backward.
void expect_gradients(const Model& model, const GoldenFile& golden, const std::string& prefix,
                      double scale = 1) {
    int compared = 0;
    for (const Parameter& each : model.parameters()) {
        ASSERT_TRUE(each.tensor.grad().defined()) << each.name;
        if (!golden.has(prefix + each.name)) continue;
        ++compared;
        const auto figures = golden.values(prefix + each.name);
        auto values = each.tensor.grad().values();
        double squares = 0, apart = 0;
        for (double& value : values) {
            value /= scale;
            squares += value * value;
        }
        const std::size_t kept = figures.size() - 2;
        for (std::size_t i = 0; i < kept; ++i)
            apart += std::pow(values[i * values.size() / kept] - figures[i + 2], 2);
        EXPECT_NEAR(std::sqrt(squares), figures[0], figures[1]) << each.name;
        EXPECT_LE(std::sqrt(apart), figures[1]) << each.name;
    }
    EXPECT_GE(compared, 10);
}

class DetectionStep : public testing::TestWithParam<GoldenCase> {};

TEST_P(DetectionStep, HasTorchvisionsLossesAndGradients) {
    const auto& [name, norm, masks, objects] = GetParam();
    const auto model = small_detector(norm, masks);
    const DetectionPass pass = pass_of(*model, made_scenes(objects));
    const std::string prefix = std::string(name) + ".";
    expect_losses(pass, detector_golden().values(prefix + "losses"));
    EXPECT_FALSE(pass.found.defined());

    backward(pass.total);
    expect_gradients(*model, detector_golden(), prefix);
}

INSTANTIATE_TEST_SUITE_P(Cases, DetectionStep,
                         testing::Values(GoldenCase{"batch", "batch", true, usual},
                                         GoldenCase{"frozen", "frozen", true, usual},
                                         GoldenCase{"boxes", "batch", false, usual},
                                         GoldenCase{"one_empty", "frozen", true, {usual[0], {}}},
                                         GoldenCase{"all_empty", "frozen", true, {{}, {}}}),
                         [](const auto& each) { return std::string(each.param.name); });

/// Proposals of the golden file, in the form of a step's.
Proposals golden_proposals(const GoldenFile& golden) {
    constexpr std::size_t most = 40;
    std::vector<double> boxes(2 * most * 4, 0);
    Sizes counts;
    for (std::size_t n = 0; n < 2; ++n) {
        const auto own = golden.values("proposals." + std::to_string(n));
        std::ranges::copy(own, boxes.begin() + static_cast<std::ptrdiff_t>(n * most * 4));
        counts.push_back(static_cast<std::int64_t>(own.size() / 4));
    }
    return {Tensor::of(boxes, {2, most, 4}, DType::f32, Device{}), whole(counts, {2})};
}

class RoundedDetectionStep : public testing::TestWithParam<DType> {};

TEST_P(RoundedDetectionStep, HasTheLossesAndGradientsOfTorchvisionsWithOurRoundings) {
    const GoldenFile golden("detection_rounded");
    const bool half = GetParam() == DType::f16;
    const std::string prefix = half ? "amp-fp16." : "amp-bf16.";
    const double scale = half ? 1024 : 1;
    const auto model = small_detector("frozen", true);
    const Proposals given = golden_proposals(golden);
    const AutocastRegion region(Device::Kind::cpu, true, GetParam());
    Tensor scaled;
    {
        const auto entered = region.enter();
        const DetectionPass pass = pass_of(*model, made_scenes(usual), &given);
        expect_losses(pass, golden.values(prefix + "losses"));
        scaled = mul(pass.total, scale);
    }
    backward(scaled);
    expect_gradients(*model, golden, prefix, scale);
}

INSTANTIATE_TEST_SUITE_P(Types, RoundedDetectionStep, testing::Values(DType::f16, DType::bf16),
                         [](const auto& each) { return std::string(name(each.param)); });

class DetectionsOf : public testing::TestWithParam<const char*> {};

TEST_P(DetectionsOf, AnEvaluationAreTorchvisions) {
    const auto model = small_detector(GetParam(), true);
    model->training = false;
    const GradMode off(false);
    const DetectionPass pass = pass_of(*model, made_scenes(usual));
    const std::string prefix = "found." + std::string(GetParam()) + ".";
    const auto losses = losses_of(pass), wanted_losses = detector_golden().values(prefix + "losses");
    for (std::size_t i = 0; i < losses.size(); ++i)
        EXPECT_NEAR(losses[i], wanted_losses[i], 1e-5 * std::abs(wanted_losses[i]) + 1e-6) << i;
    constexpr std::size_t columns = 6 + 784;
    ASSERT_EQ(pass.found.shape(), (Shape{2, 100, columns}));
    const auto found = pass.found.values();
    for (std::size_t n = 0; n < 2; ++n) {
        const auto wanted = detector_golden().values(prefix + std::to_string(n)),
                   masks = detector_golden().values(prefix + std::to_string(n) + ".masks");
        for (std::size_t i = 0; i < 100; ++i) {
            const double* row = &found[(n * 100 + i) * columns];
            if (i >= masks.size()) {
                EXPECT_EQ(row[5], 0) << "an empty row";
                continue;
            }
            SCOPED_TRACE(i);
            for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(row[k], wanted[i * 6 + k], 1e-3);
            EXPECT_NEAR(row[4], wanted[i * 6 + 4], 1e-5);
            EXPECT_EQ(row[5], wanted[i * 6 + 5]);
            double sum = 0;
            for (std::size_t k = 6; k < columns; ++k) sum += row[k];
            EXPECT_NEAR(sum / 784, masks[i], 1e-5);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Norms, DetectionsOf, testing::Values("batch", "frozen"),
                         [](const auto& each) { return std::string(each.param); });

TEST(DetectionPass, GivenProposalsTakeThePlaceOfItsOwn) {
    const auto model = small_detector("frozen", true);
    const Scenes scenes = made_scenes(usual);
    const DetectionPass own = pass_of(*model, scenes),
                        again = pass_of(*model, scenes, &own.proposals);
    EXPECT_EQ(losses_of(again), losses_of(own));
    const Proposals none{Tensor::zeros({2, 40, 4}, DType::f32, Device{}),
                         Tensor::zeros({2}, DType::i64, Device{})};
    const DetectionPass without = pass_of(*model, scenes, &none);
    EXPECT_EQ(without.objectness.item(), own.objectness.item());
    EXPECT_NE(without.classifier.item(), own.classifier.item()) << "of the objects alone";
}

TEST(DetectionPass, BoxesInSixteenBitsLieOnTheGridOfTheirType) {
    const auto model = small_detector("frozen", false);
    const Scenes scenes = made_scenes(usual);
    const AutocastRegion region(Device::Kind::cpu, true, DType::bf16);
    const auto entered = region.enter();
    const DetectionPass intact = pass_of(*model, scenes),
                        low = pass_of(*model, scenes, nullptr, TeachBoxes::low);
    const Tensor& boxes = low.proposals.boxes;
    EXPECT_EQ(to(to(boxes, DType::bf16), DType::f32).values(), boxes.values());
    EXPECT_NE(boxes.values(), intact.proposals.boxes.values());
    // Below 128 pixels the steps of bf16 are half a pixel at most. Corners of whole numbers up to
    // 256 are exact, so the anchors, and what is sampled of them, are the same.
    EXPECT_EQ(low.objectness.item(), intact.objectness.item());
    EXPECT_EQ(low.rpn_box_reg.item(), intact.rpn_box_reg.item());
    EXPECT_TRUE(std::isfinite(low.total.item()));
}

TEST(DetectionPass, WithoutAnyRegionItsLossesAreFiniteAndSoAreGradients) {
    const auto model = small_detector("frozen", true);
    const Proposals none{Tensor::zeros({2, 40, 4}, DType::f32, Device{}),
                         Tensor::zeros({2}, DType::i64, Device{})};
    const DetectionPass pass = pass_of(*model, made_scenes({{}, {}}), &none);
    EXPECT_EQ(pass.classifier.item(), 0);
    EXPECT_EQ(pass.box_reg.item(), 0);
    EXPECT_EQ(pass.mask.item(), 0);
    backward(pass.total);
    for (const Parameter& each : model->parameters())
        for (const double value : each.tensor.grad().values())
            ASSERT_TRUE(std::isfinite(value)) << each.name;
    model->training = false;
    const GradMode off(false);
    for (const double value : pass_of(*model, made_scenes({{}, {}}), &none).found.values())
        ASSERT_EQ(value, 0);
}

TEST(DetectionPass, ANumberThatIsNoneInAPictureMakesALossThatIsNone) {
    const auto model = small_detector("frozen", true);
    Scenes scenes = made_scenes(usual);
    scenes.images.data_as<float>()[5] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(pass_of(*model, scenes).total.item()));
}

TEST(DetectionPass, ObjectsWithoutAMaskAreLeftOutOfTheMaskLossAlone) {
    const auto model = small_detector("frozen", true);
    const Scenes scenes = made_scenes(usual);
    const DetectionPass all = pass_of(*model, scenes);
    Scenes fewer = made_scenes(usual);
    fewer.places.data_as<std::int64_t>()[2] = 0;
    const DetectionPass some = pass_of(*model, fewer);
    EXPECT_EQ(some.box_reg.item(), all.box_reg.item());
    EXPECT_NE(some.mask.item(), all.mask.item());
    for (int i = 0; i < 2 * most_objects; ++i) fewer.places.data_as<std::int64_t>()[i * 5 + 2] = 0;
    EXPECT_EQ(pass_of(*model, fewer).mask.item(), 0);
}

/// Rows of a tensor in the other order.
Tensor swapped(const Tensor& x) { return cat({narrow(x, 0, 1, 1), narrow(x, 0, 0, 1)}, 0); }

TEST(DetectionPass, ThePlaceOfAPictureInABatchDoesNotMatter) {
    const auto model = small_detector("frozen", true);
    const Scenes scenes = made_scenes(usual);
    const Scenes other{swapped(scenes.images), swapped(scenes.sizes),  swapped(scenes.boxes),
                       swapped(scenes.labels), swapped(scenes.places), swapped(scenes.bits),
                       swapped(scenes.draws)};
    const auto first = losses_of(pass_of(*model, scenes)),
               second = losses_of(pass_of(*model, other));
    for (std::size_t i = 0; i < first.size(); ++i)
        EXPECT_NEAR(first[i], second[i], 1e-6 * first[i]) << i;
}

TEST(DetectionPass, PicturesWithoutKnownObjectsHaveDetectionsAlone) {
    const auto model = small_detector("batch", false);
    model->training = false;
    const GradMode off(false);
    Scenes scenes = made_scenes(usual);
    const Tensor known = pass_of(*model, scenes).found;
    scenes.boxes = {};
    const DetectionPass pass = pass_of(*model, scenes);
    EXPECT_FALSE(pass.total.defined());
    ASSERT_EQ(pass.found.shape(), (Shape{2, 100, 6}));
    EXPECT_EQ(pass.found.values(), known.values());
}

}  // namespace
}  // namespace engine::test::detection

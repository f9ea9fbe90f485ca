#include "data/detection/detection_sample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "data/image/image_transforms.h"
#include "engine/base/error.h"
#include "tensor/philox.h"

namespace engine {
namespace {

constexpr std::array<float, 3> mean{0.485F, 0.456F, 0.406F}, deviation{0.229F, 0.224F, 0.225F};
constexpr std::int64_t canvas_step = 32, word_bits = 64;
constexpr float least_side = 1e-3F;

std::int64_t words_of(std::int64_t columns) { return (columns + word_bits - 1) / word_bits; }

/// The two lines that a line of the resized picture lies between, and the second one's share.
struct Between {
    std::int64_t first, second;
    float share;
};

std::vector<Between> bilinear_lines(std::int64_t from, std::int64_t to) {
    const float ratio = static_cast<float>(from) / static_cast<float>(to);
    std::vector<Between> out;
    for (std::int64_t i = 0; i < to; ++i) {
        const float at = std::max(ratio * (static_cast<float>(i) + 0.5F) - 0.5F, 0.0F);
        const std::int64_t first = std::min(static_cast<std::int64_t>(at), from - 1);
        out.push_back({first, std::min(first + 1, from - 1), at - static_cast<float>(first)});
    }
    return out;
}

/// An interval of lines; empty where begin is not below end.
struct LineRange {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return std::max<std::int64_t>(end - begin, 0); }
};

/// Columns and rows of the picture that hold all pixels of the mask.
std::array<LineRange, 2> extent(const DetectionTruth::Mask& mask, const DetectionTruth& truth) {
    if (const auto* runs = std::get_if<RunLength>(&mask)) {
        const auto [x, y, w, h] = mask_box(*runs);
        return {{{static_cast<std::int64_t>(x), static_cast<std::int64_t>(x + w)},
                 {static_cast<std::int64_t>(y), static_cast<std::int64_t>(y + h)}}};
    }
    const std::optional<MaskPolygons> parts = mask_polygons(mask);
    if (!parts) return {};
    std::array<double, 2> low{1e18, 1e18}, high{-1e18, -1e18};
    for (const std::vector<double>& part : *parts) {
        for (std::size_t i = 0; i < part.size(); ++i) {
            low[i % 2] = std::min(low[i % 2], part[i]);
            high[i % 2] = std::max(high[i % 2], part[i]);
        }
    }
    const std::array<double, 2> sides{static_cast<double>(truth.width),
                                      static_cast<double>(truth.height)};
    std::array<LineRange, 2> out;
    for (std::size_t axis = 0; axis < 2; ++axis)
        out[axis] = {static_cast<std::int64_t>(std::clamp(low[axis] - 2, 0.0, sides[axis])),
                     static_cast<std::int64_t>(std::clamp(high[axis] + 2, 0.0, sides[axis]))};
    return out;
}

/// The lines that are taken from `source`; one more at each end for the rounding of the ratio.
std::int64_t resized_lines(const LineRange& source, std::int64_t from, std::int64_t to) {
    const double ratio = static_cast<double>(to) / static_cast<double>(from);
    const double lines = std::ceil(static_cast<double>(source.size()) * ratio);
    return std::min(static_cast<std::int64_t>(lines) + 2, to);
}

/// The part of a mask that its own pixels span, in the resized picture.
struct MaskBits {
    std::array<std::int64_t, 4> place{};  // left, top, width, height
    std::vector<std::uint64_t> words;
};

LineRange lines_with(const std::vector<bool>& any) {
    const auto first = std::ranges::find(any, true);
    if (first == any.end()) return {};
    const auto last = std::find(any.rbegin(), any.rend(), true);
    return {first - any.begin(), any.rend() - last};
}

MaskBits resized_bits(const RunLength& mask, const CanvasSize& size, bool flipped) {
    const std::vector<std::uint8_t> bitmap = decode_bitmap(mask);
    const std::vector<std::int64_t> rows = nearest_lines(mask.height, size.height);
    std::vector<std::int64_t> columns = nearest_lines(mask.width, size.width);
    if (flipped)
        for (std::int64_t& column : columns) column = mask.width - 1 - column;
    const auto is_set = [&](std::size_t y, std::size_t x) {
        return bitmap[static_cast<std::size_t>(rows[y] * mask.width + columns[x])] != 0;
    };
    std::vector<bool> row_any(rows.size()), column_any(columns.size());
    const std::array<double, 4> box = mask_box(mask);
    for (std::size_t y = 0; y < rows.size(); ++y) {
        const auto row = static_cast<double>(rows[y]);
        if (row < box[1] || row >= box[1] + box[3]) continue;
        for (std::size_t x = 0; x < columns.size(); ++x) {
            if (!is_set(y, x)) continue;
            row_any[y] = true;
            column_any[x] = true;
        }
    }
    const LineRange down = lines_with(row_any), across = lines_with(column_any);
    MaskBits out{{across.begin, down.begin, across.size(), down.size()}, {}};
    const std::int64_t each = words_of(across.size());
    out.words.assign(static_cast<std::size_t>(down.size() * each), 0);
    for (std::int64_t y = 0; y < down.size(); ++y) {
        for (std::int64_t x = 0; x < across.size(); ++x) {
            if (is_set(static_cast<std::size_t>(down.begin + y),
                       static_cast<std::size_t>(across.begin + x)))
                out.words[static_cast<std::size_t>(y * each + x / word_bits)] |=
                    std::uint64_t{1} << (x % word_bits);
        }
    }
    return out;
}

/// Corners in f32, as torchvision computes them from x, y, width, height, within the picture; then
/// resized by one factor for each axis.
std::array<float, 4> training_box(const std::array<double, 4>& box, const DetectionTruth& truth,
                                  const CanvasSize& size, bool flipped) {
    const std::array<float, 2> sides{static_cast<float>(truth.width),
                                     static_cast<float>(truth.height)};
    const std::array<float, 2> ratio{static_cast<float>(size.width) / sides[0],
                                     static_cast<float>(size.height) / sides[1]};
    std::array<float, 4> out{};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const auto low = static_cast<float>(box[axis]);
        const float high = low + static_cast<float>(box[axis + 2]);
        out[axis] = std::clamp(low, 0.0F, sides[axis]);
        out[axis + 2] = std::clamp(high, 0.0F, sides[axis]);
    }
    if (flipped) out = {sides[0] - out[2], out[1], sides[0] - out[0], out[3]};
    for (std::size_t i = 0; i < 4; ++i) out[i] *= ratio[i % 2];
    return out;
}

/// Fills the fields of objects, one after the other.
class ObjectWriter {
public:
    explicit ObjectWriter(const SampleFields& out)
        : out_(out),
          boxes_(out.f32(detection_field::boxes)),
          labels_(out.i64(detection_field::labels)),
          places_(out.i64(detection_field::places)),
          bits_(out.i64(detection_field::bits)) {
        std::ranges::fill(labels_, 0);
        std::ranges::fill(places_, 0);
        std::ranges::fill(bits_, 0);
    }
    bool wants_masks() const { return !bits_.empty(); }

    void add(const std::array<float, 4>& box, std::int64_t label, const MaskBits& mask) {
        assert(boxes_.empty() || count_ < boxes_.size() / 4);
        assert(mask.words.size() <= bits_.size() - static_cast<std::size_t>(used_));
        if (!boxes_.empty()) std::ranges::copy(box, part(boxes_, 4).begin());
        if (!labels_.empty()) part(labels_, 1)[0] = label;
        if (!places_.empty()) {
            std::ranges::copy(mask.place, part(places_, 5).begin());
            part(places_, 5)[4] = used_;
        }
        if (!mask.words.empty()) {
            const auto to = bits_.subspan(static_cast<std::size_t>(used_), mask.words.size());
            std::memcpy(to.data(), mask.words.data(), to.size_bytes());
            used_ += std::ssize(mask.words);
        }
        out_.set_rows(detection_field::boxes, static_cast<std::int64_t>(++count_));
    }

private:
    template <typename T>
    std::span<T> part(std::span<T> all, std::size_t each) const {
        return all.subspan(count_ * each, each);
    }

    const SampleFields& out_;
    std::span<float> boxes_;
    std::span<std::int64_t> labels_, places_, bits_;
    std::size_t count_ = 0;
    std::int64_t used_ = 0;
};

}  // namespace

std::uint8_t aspect_group(const CanvasSize& picture) {
    // h/w reaches 2^(k/3) where (h/w)^3 reaches 2^k. Doubles hold these powers of two exactly.
    const double ratio = static_cast<double>(picture.height) / static_cast<double>(picture.width);
    std::uint8_t group = 0;
    for (double bound = 0.125; bound <= 8 && ratio * ratio * ratio >= bound; bound *= 2) ++group;
    return group;
}

CanvasSize resized_size(const CanvasSize& picture, std::int64_t short_side,
                        std::int64_t long_side) {
    const auto [small, large] = std::minmax(picture.height, picture.width);
    const double scale = std::min(static_cast<double>(short_side) / static_cast<double>(small),
                                  static_cast<double>(long_side) / static_cast<double>(large));
    const auto side = [&](std::int64_t from) {
        const double to = std::floor(static_cast<double>(from) * scale);
        return std::max<std::int64_t>(static_cast<std::int64_t>(to), 1);
    };
    return {side(picture.height), side(picture.width)};
}

CanvasSize padded_size(const CanvasSize& size) {
    const auto up = [](std::int64_t side) {
        return (side + canvas_step - 1) / canvas_step * canvas_step;
    };
    return {up(size.height), up(size.width)};
}

std::vector<std::int64_t> nearest_lines(std::int64_t from, std::int64_t to) {
    const float ratio = static_cast<float>(from) / static_cast<float>(to);
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < to; ++i)
        out.push_back(std::min(static_cast<std::int64_t>(std::floor(static_cast<float>(i) * ratio)),
                               from - 1));
    return out;
}

std::vector<float> resized_plain(const Picture& picture, const CanvasSize& size) {
    const std::vector<Between> rows = bilinear_lines(picture.height, size.height);
    const std::vector<Between> columns = bilinear_lines(picture.width, size.width);
    const auto pitch = static_cast<std::int64_t>(picture.width) * 3;
    std::vector<float> out;
    out.reserve(rows.size() * columns.size() * 3);
    for (const Between& row : rows) {
        const std::uint8_t* above = picture.rgb.data() + row.first * pitch;
        const std::uint8_t* below = picture.rgb.data() + row.second * pitch;
        for (const Between& column : columns) {
            for (std::int64_t c = 0; c < 3; ++c) {
                const auto along = [&](const std::uint8_t* line) {
                    const float left = static_cast<float>(line[column.first * 3 + c]) / 255;
                    const float right = static_cast<float>(line[column.second * 3 + c]) / 255;
                    return (1 - column.share) * left + column.share * right;
                };
                out.push_back((1 - row.share) * along(above) + row.share * along(below));
            }
        }
    }
    return out;
}

void DetectionCapacity::widen(const DetectionCapacity& other) {
    objects = std::max(objects, other.objects);
    words = std::max(words, other.words);
}

DetectionCapacity capacity_of(const DetectionTruth& truth, const CanvasSize& resized) {
    DetectionCapacity out;
    for (const DetectionTruth::Annotation& each : truth.annotations) {
        if (!each.trains()) continue;
        ++out.objects;
        const auto [across, down] = extent(each.mask, truth);
        if (across.size() == 0 || down.size() == 0) continue;
        out.words += resized_lines(down, truth.height, resized.height) *
                     words_of(resized_lines(across, truth.width, resized.width));
    }
    return out;
}

Schema detection_schema(std::vector<std::string> classes, const CanvasSize& canvas,
                        const DetectionCapacity& capacity, bool by_batch) {
    const std::int64_t objects = std::max<std::int64_t>(capacity.objects, 1);
    Schema schema;
    schema.add({.name = "image",
                .kind = FieldKind::image,
                .shape = {3, canvas.height, canvas.width},
                .own_crop = true,
                .by_batch = by_batch,
                .own_changes = true,
                .normalization = {{mean.begin(), mean.end()},
                                  {deviation.begin(), deviation.end()}}});
    schema.add({.name = "size", .dtype = DType::i64, .shape = {4}});
    schema.add({.name = "boxes",
                .kind = FieldKind::boxes,
                .shape = {objects, 4},
                .ragged = Ragged::masked});
    const auto count = static_cast<std::int64_t>(classes.size());
    schema.add({.name = "labels",
                .kind = FieldKind::label,
                .dtype = DType::i64,
                .shape = {objects},
                .cardinality = count + 1,
                .names = std::move(classes)});
    schema.add({.name = "masks.place", .dtype = DType::i64, .shape = {objects, 5}});
    schema.add({.name = "masks.bits",
                .dtype = DType::i64,
                .shape = {std::max<std::int64_t>(capacity.words, 1)},
                .cardinality = capacity.words == 0 ? 1 : 0});
    return schema;
}

DetectionDraw draw_detection(const DetectionForm& form, const SamplePlace* place) {
    if (place == nullptr) return {false, form.short_sides.back()};
    const RandomStream random(place->seed, StreamId::picture_crop,
                              static_cast<std::uint32_t>(place->epoch));
    const PhiloxBlock words = random.block(place->position);
    const auto sides = static_cast<std::uint32_t>(form.short_sides.size());
    return {form.flips && (words[0] & 1) != 0,
            form.short_sides[RandomStream::to_bounded(words[1], sides)]};
}

void write_objects(const SampleFields& out, const DetectionTruth& truth, const CanvasSize& size,
                   bool flipped) {
    if (const auto to = out.i64(detection_field::size); !to.empty())
        std::ranges::copy(
            std::array<std::int64_t, 4>{size.height, size.width, truth.height, truth.width},
            to.begin());
    ObjectWriter writer(out);
    for (const DetectionTruth::Annotation& each : truth.annotations) {
        if (!each.trains()) continue;
        const std::array<float, 4> box = training_box(each.box, truth, size, flipped);
        // A box of huge numbers is NaN in f32.
        if (!(box[2] - box[0] >= least_side && box[3] - box[1] >= least_side)) continue;
        MaskBits mask;
        if (writer.wants_masks() && !std::holds_alternative<std::monostate>(each.mask)) {
            mask = resized_bits(mask_runs(each.mask, truth.height, truth.width), size, flipped);
            if (mask.words.empty()) continue;
        }
        writer.add(box, each.label, mask);
    }
}

void write_typical_objects(const SampleFields& out, const Schema& schema) {
    const Shape& image = schema.fields[detection_field::image].shape;
    const FieldSpec& labels = schema.fields[detection_field::labels];
    const std::int64_t objects = labels.shape[0], height = image[1], width = image[2];
    const std::int64_t words = schema.fields[detection_field::bits].shape[0] / objects;
    // A row of a mask of at most 64 pixels is one word.
    const std::int64_t side =
        std::clamp<std::int64_t>(std::min({height / 4, width / 4, words}), 4, 64);
    DetectionTruth truth{.height = static_cast<std::int32_t>(height),
                         .width = static_cast<std::int32_t>(width)};
    for (std::int64_t i = 0; i < objects; ++i) {
        const auto x = static_cast<double>(i * 37 % (width - side)),
                   y = static_cast<double>(i * 61 % (height - side)),
                   all = static_cast<double>(side - 1), cut = all / 4;
        auto& object = truth.annotations.emplace_back();
        object.label = static_cast<std::int32_t>(1 + i % (labels.cardinality - 1));
        object.box = {x, y, all, all};
        if (words >= side)
            object.mask = MaskPolygons{{x + cut, y, x + all - cut, y, x + all, y + cut, x + all,
                                        y + all - cut, x + all - cut, y + all, x + cut, y + all, x,
                                        y + all - cut, x, y + cut}};
    }
    write_objects(out, truth, {height, width}, /*flipped=*/false);
}

void write_pixels(const SampleFields& out, Picture picture, const CanvasSize& size,
                  const CanvasSize& canvas, const DetectionForm& form, const DetectionDraw& draw,
                  const SamplePlace* place) {
    if (draw.flipped) mirror(picture);
    std::vector<float> pixels = resized_plain(picture, size);
    if (place != nullptr && form.color_jitter > 0) {
        std::vector<SampleFields::Place> whole{{.data = reinterpret_cast<std::byte*>(pixels.data()),
                                                .bytes = pixels.size() * sizeof(float)}};
        ColorJitter(form.color_jitter).apply(SampleFields(whole), 0, *place);
    }
    for (std::size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = (pixels[i] - mean[i % 3]) / deviation[i % 3];
    const std::span<float> image = out.f32(detection_field::image);
    std::ranges::fill(image, 0.0F);
    const CanvasSize own = out.canvas(detection_field::image);
    const CanvasSize to = own.height > 0 ? own : canvas;
    // A sample in a damaged one's place may be larger: then the batch is made again.
    const std::int64_t height = std::min(size.height, to.height);
    const std::int64_t width = std::min(size.width, to.width);
    for (std::int64_t y = 0; y < height; ++y)
        std::copy_n(pixels.begin() + y * size.width * 3, width * 3,
                    image.begin() + y * to.width * 3);
}

}  // namespace engine

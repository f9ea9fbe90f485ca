#include "data/dataset_descriptor.h"
#include "data/detection/detection_dataset.h"
#include "data/detection/shapes_scene.h"
#include "data/image/image_transforms.h"

namespace engine {
namespace {

constexpr std::int64_t train_size = 2000, test_size = 200;

/// Scenes from the seed: sample i is the same whatever was read before.
class ShapesDataset final : public DetectionDataset {
public:
    struct Source {
        std::int64_t seed;
        StreamId stream;
        std::int64_t size, side, most_shapes;
    };

    ShapesDataset(const Source& source, const DetectionForm& form, Schema schema)
        : DetectionDataset(form, std::move(schema)), source_(source) {}

    std::int64_t size() const override { return source_.size; }
    std::shared_ptr<const DetectionTruth> truth(std::int64_t index) const override {
        DetectionTruth out = draw(index).truth;
        out.image_id = index + 1;
        return std::make_shared<const DetectionTruth>(std::move(out));
    }

private:
    CanvasSize picture_size(std::int64_t) const override { return {source_.side, source_.side}; }
    Picture load(std::int64_t index) const override { return draw(index).picture; }
    ShapesScene draw(std::int64_t index) const {
        const RandomStream random(source_.seed, source_.stream, static_cast<std::uint32_t>(index));
        return draw_shapes(random, source_.side, source_.most_shapes);
    }

    Source source_;
};

/// A shape's bounding square is at most half the side and a tenth, whose rows are whole words.
Schema shapes_schema(const TypedOptions& options) {
    const std::int64_t side = options.integer("image_size"), most = options.integer("most_shapes");
    const std::int64_t lines = side * 6 / 10 + 2;
    return detection_schema({shape_classes.begin(), shape_classes.end()}, {side, side},
                            {most, most * lines * ((lines + 63) / 64)}, /*by_batch=*/false);
}

std::vector<OptionSpec> shapes_options() {
    return {option("image_size", "Image size", std::int64_t{128},
                   "Side of a scene, a multiple of 32. Shapes take 9 to 25 % of it in each "
                   "direction from their middle.",
                   opt::unit("pixels"), opt::between(64, 512), opt::prominent),
            option("most_shapes", "Shapes", std::int64_t{4},
                   "The most shapes of a scene, which has 1 to this many.", opt::between(1, 12)),
            color_jitter_option()};
}

DataParts open_shapes(const DatasetConfig& config, std::int64_t seed) {
    check_detection_settings(config);
    const std::vector<OptionSpec> specs = shapes_options();
    const TypedOptions options(config.options, specs);
    const std::int64_t side = options.integer("image_size");
    if (side % 32 != 0)
        throw Error(ErrorCode::settings,
                    msg("dataset.image_size: {}: use a multiple of 32", side));
    const DetectionForm form{.short_sides = {side},
                             .long_side = side,
                             .flips = config.augment,
                             .color_jitter = options.number("color_jitter"),
                             .by_batch = false};
    const auto part = [&](StreamId stream, std::int64_t size) -> DataPart {
        const ShapesDataset::Source source{seed, stream, size, side,
                                           options.integer("most_shapes")};
        return {std::make_shared<ShapesDataset>(source, form, shapes_schema(options))};
    };
    return {.train = part(StreamId::shapes_train, limited(train_size, config.train_limit)),
            .validation = {},
            .test = part(StreamId::shapes_test, limited(test_size, config.test_limit))};
}

}  // namespace

DatasetDescriptor shapes_descriptor() {
    return {.kind = "shapes",
            .title = "Shapes",
            .summary = "Drawn scenes of squares, discs and triangles with boxes and masks, made "
                       "from the seed; nothing to download.",
            .unit = "images",
            .augments = true,
            .usual_batch = 8,
            .options = shapes_options(),
            .schema =
                [](const DatasetConfig& config) {
                    const std::vector<OptionSpec> specs = shapes_options();
                    return shapes_schema(TypedOptions(config.options, specs));
                },
            .open = [](const DatasetConfig& config, std::int64_t seed, const std::stop_token&) {
                return open_shapes(config, seed);
            }};
}

}  // namespace engine

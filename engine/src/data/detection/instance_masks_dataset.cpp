#include <algorithm>
#include <array>

#include "data/byte_reader.h"
#include "data/data_files.h"
#include "data/dataset_descriptor.h"
#include "data/detection/detection_files.h"
#include "data/detection/detection_options.h"
#include "data/image/image_parts.h"
#include "io/picture/readers.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// Names of the folders of pictures and of masks. Penn-Fudan's first.
constexpr std::array<std::array<const char*, 2>, 2> mask_layouts{
    {{"PNGImages", "PedMasks"}, {"images", "masks"}}};

/// The layout of a folder, or the end of mask_layouts.
auto find_layout(const fs::path& folder) {
    return std::ranges::find_if(mask_layouts, [&](const auto& names) {
        std::error_code ignored;
        return fs::is_directory(folder / names[0], ignored) &&
               fs::is_directory(folder / names[1], ignored);
    });
}

/// Each value but 0 is one object, whose box is the extent of its pixels.
DetectionTruth masked_truth(const NumberPicture& numbers, const fs::path& file) {
    auto found = numbered_masks(numbers.values, numbers.height, numbers.width);
    if (std::ssize(found) > DetectionTruth::max_objects)
        throw Error(ErrorCode::data, msg("{}: more than {} objects in one picture", file.string(),
                                         DetectionTruth::max_objects));
    DetectionTruth out{.height = numbers.height, .width = numbers.width};
    for (auto& [number, each] : found) {
        DetectionTruth::Annotation& object = out.annotations.emplace_back();
        object.label = 1;
        object.box = {static_cast<double>(each.left), static_cast<double>(each.top),
                      static_cast<double>(each.right - each.left),
                      static_cast<double>(each.bottom - each.top)};
        object.area = static_cast<double>(mask_area(each.mask));
        object.mask = std::move(each.mask);
    }
    return out;
}

std::vector<fs::path> pictures_in(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const std::string extension = in_lower_case(entry.path().extension().string());
        const bool picture = extension == ".png" || extension == ".jpg" || extension == ".jpeg";
        if (picture && !is_leftover(entry.path())) out.push_back(entry.path());
    }
    std::ranges::sort(out, [](const fs::path& a, const fs::path& b) {
        return name_before(a.filename().string(), b.filename().string());
    });
    return out;
}

DetectionFound find_masked_pictures(const DatasetConfig& config, const TypedOptions& options,
                                    const std::stop_token& stop) {
    const fs::path folder = detection_path(config, "instance-masks");
    const auto layout = find_layout(folder);
    if (layout == mask_layouts.end())
        throw Error(ErrorCode::data,
                    msg("{}: no folder with pictures in PNGImages and masks in PedMasks, or in "
                        "images and masks",
                        folder.string()),
                    msg("Set dataset.path to the folder that holds both."));
    DetectionFound found{.name = folder.string(), .classes = options.words("classes")};
    if (found.classes.empty()) found.classes = {"object"};
    if (found.classes.size() > 1)
        throw Error(ErrorCode::settings,
                    msg("dataset.classes: masks have one class, so give one name"));
    const std::vector<fs::path> pictures = pictures_in(folder / (*layout)[0]);
    std::int64_t image_id = 0, maskless = 0;
    std::string first_maskless;
    for (const fs::path& picture : pictures) {
        if (stop.stop_requested()) throw ReadingStopped{};
        report_reading({image_id, std::ssize(pictures)});
        DetectionPicture& each = found.train.emplace_back(DetectionPicture{.file = picture});
        const fs::path masks = folder / (*layout)[1];
        bool masked = false;
        for (const char* ending : {".png", "_mask.png"}) {
            const fs::path mask = masks / (picture.stem().string() + ending);
            std::error_code ignored;
            if (!fs::exists(mask, ignored)) continue;
            each.truth = masked_truth(load_number_png(mask), mask);
            masked = true;
            break;
        }
        if (!masked && maskless++ == 0) first_maskless = picture.filename().string();
        each.truth.image_id = ++image_id;
    }
    if (maskless > 0)
        found.notes.push_back(msg("{}: {} of {} pictures have no PNG of masks, so they count as "
                                  "pictures without objects. The first is {}",
                                  found.name, maskless, image_id, first_maskless));
    return found;
}

}  // namespace

DatasetDescriptor instance_masks_descriptor() {
    return {.kind = "instance-masks",
            .title = "Pictures with masks",
            .summary = "Pictures and, for each, a PNG whose values number the objects, such as the "
                       "pedestrians of Penn-Fudan. Boxes are the extents of the masks, the last "
                       "pixel included.",
            .needs = "the folder with PNGImages and PedMasks, or images and masks",
            .unit = "images",
            .augments = true,
            .usual_batch = 2,
            .options = detection_options(),
            .schema = [](const DatasetConfig&) { return typical_detection_schema(); },
            .files_decide = true,
            .open =
                [](const DatasetConfig& config, std::int64_t seed, const std::stop_token& stop) {
                    const std::vector<OptionSpec> specs = detection_options();
                    const TypedOptions options(config.options, specs);
                    return open_detection(find_masked_pictures(config, options, stop), config,
                                          options, seed, stop);
                },
            .recognise = [](const fs::path& path) {
                return find_layout(path) != mask_layouts.end();
            }};
}

}  // namespace engine

#include <algorithm>
#include <fstream>
#include <map>

#include "data/byte_reader.h"
#include "data/data_files.h"
#include "data/dataset_descriptor.h"
#include "data/detection/detection_files.h"
#include "data/detection/detection_options.h"
#include "data/detection/voc_xml.h"
#include "io/picture/readers.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t voc_void = 255;  // of SegmentationObject
constexpr std::uint64_t max_annotation_bytes = std::uint64_t{64} << 20;

/// Names of a list of a part, one a line; a second word (1, 0, -1) is of a list of one class.
std::vector<std::string> read_voc_list(const fs::path& file) {
    std::vector<std::string> out;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const std::string name = line.substr(0, line.find_first_of(" \t\r"));
        if (!name.empty()) out.push_back(name);
    }
    return out;
}

std::string read_annotation(const fs::path& file) {
    const auto reader = open_packed(file, {.max_bytes = max_annotation_bytes, .stop = {}});
    std::string text;
    std::vector<std::uint8_t> piece(std::size_t{64} << 10);
    for (std::size_t got = reader->read(piece); got > 0; got = reader->read(piece))
        text.append(reinterpret_cast<const char*>(piece.data()), got);
    return text;
}

class VocOpener {
public:
    VocOpener(const DatasetConfig& config, std::stop_token stop) : stop_(std::move(stop)) {
        folder_ = detection_path(config, "voc");
    }

    DetectionFound find() {
        std::error_code ignored;
        if (!fs::is_directory(folder_ / "Annotations", ignored) ||
            !fs::is_directory(folder_ / "JPEGImages", ignored))
            throw Error(ErrorCode::data,
                        msg("{}: no folder with Annotations and JPEGImages", folder_.string()),
                        msg("Set dataset.path to the folder that holds both, such as VOC2012."));
        found_.name = folder_.string();
        const fs::path lists = folder_ / "ImageSets" / "Main";
        std::vector<std::string> train = read_voc_list(lists / "train.txt");
        std::vector<std::string> validation = read_voc_list(lists / "val.txt");
        std::vector<std::string> test = read_voc_list(lists / "test.txt");
        if (train.empty()) {
            train = all_names();
            validation.clear();
            test.clear();
        }
        if (test.empty()) std::swap(test, validation);
        total_ = std::ssize(train) + std::ssize(validation) + std::ssize(test);
        for (const auto& [names, part] :
             {std::pair(&train, &found_.train), std::pair(&validation, &found_.validation),
              std::pair(&test, &found_.test)})
            for (const std::string& name : *names) part->push_back(read(name));
        name_classes();
        return std::move(found_);
    }

private:
    std::vector<std::string> all_names() const {
        std::vector<std::string> out;
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(folder_ / "Annotations", ignored))
            if (entry.path().extension() == ".xml") out.push_back(entry.path().stem().string());
        std::ranges::sort(out, name_before);
        return out;
    }

    DetectionPicture read(const std::string& name) {
        if (stop_.stop_requested()) throw ReadingStopped{};
        if (count_ % 64 == 0) report_reading({count_, total_});
        ++count_;
        const fs::path file = file_within(folder_ / "Annotations", name + ".xml", folder_);
        const VocAnnotation annotation = read_voc_xml(read_annotation(file), file.string());
        const std::string picture =
            annotation.file_name.empty() ? name + ".jpg" : annotation.file_name;
        if (fs::path(picture).has_parent_path() || picture == "..")
            throw Error(ErrorCode::data,
                        msg("{}: the name {} leads out of the folder", file.string(), picture));
        DetectionPicture out{.file = file_within(folder_ / "JPEGImages", picture, file)};
        out.truth.image_id = name;
        out.truth.width = annotation.width;
        out.truth.height = annotation.height;
        for (const VocObject& object : annotation.objects) {
            DetectionTruth::Annotation& each = out.truth.annotations.emplace_back();
            each.label = label_of(object.name);
            each.difficult = object.difficult;
            const auto& [left, top, right, bottom] = object.box;
            each.box = {left - 1, top - 1, right - left + 1, bottom - top + 1};
            each.area = each.box[2] * each.box[3];
        }
        add_masks(name, out.truth);
        return out;
    }

    /// Value k of SegmentationObject is object k of the annotation.
    void add_masks(const std::string& name, DetectionTruth& truth) const {
        const fs::path file = file_within(folder_ / "SegmentationObject", name + ".png", folder_);
        std::error_code ignored;
        if (!fs::exists(file, ignored)) return;
        const NumberPicture numbers = load_number_png(file);
        if (truth.width == 0) {
            truth.width = numbers.width;
            truth.height = numbers.height;
        }
        if (numbers.width != truth.width || numbers.height != truth.height)
            throw Error(ErrorCode::data,
                        msg("{}: {} x {} pixels, and its annotations are for {} x {}",
                            file.string(), numbers.width, numbers.height, truth.width,
                            truth.height));
        for (auto& [number, each] : numbered_masks(numbers.values, truth.height, truth.width)) {
            if (number == voc_void || number > truth.annotations.size()) continue;
            DetectionTruth::Annotation& object = truth.annotations[number - 1U];
            object.area = static_cast<double>(mask_area(each.mask));
            object.mask = std::move(each.mask);
        }
    }

    /// In the order in which the names come; name_classes() brings them into that of the alphabet.
    std::int32_t label_of(const std::string& name) {
        const auto next = static_cast<std::int32_t>(labels_.size() + 1);
        return labels_.try_emplace(name, next).first->second;
    }

    void name_classes() {
        std::vector<std::int32_t> to(labels_.size() + 1);
        for (const auto& [name, label] : labels_) {
            found_.classes.push_back(name);
            to[static_cast<std::size_t>(label)] = static_cast<std::int32_t>(found_.classes.size());
        }
        for (auto* part : {&found_.train, &found_.validation, &found_.test})
            for (DetectionPicture& picture : *part)
                for (DetectionTruth::Annotation& each : picture.truth.annotations)
                    each.label = to[static_cast<std::size_t>(each.label)];
    }

    fs::path folder_;
    std::stop_token stop_;
    DetectionFound found_;
    std::map<std::string, std::int32_t> labels_;
    std::int64_t count_ = 0, total_ = 0;
};

}  // namespace

DatasetDescriptor voc_descriptor() {
    return {.kind = "voc",
            .title = "Pascal VOC",
            .summary = "Pictures with boxes in Pascal VOC's XML format, and with masks where there "
                       "is a folder SegmentationObject.",
            .needs = "the folder with Annotations and JPEGImages",
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
                    return open_detection(VocOpener(config, stop).find(), config, options, seed,
                                          stop);
                },
            .recognise =
                [](const fs::path& path) {
                    std::error_code ignored;
                    return fs::is_directory(path / "Annotations", ignored) &&
                           fs::is_directory(path / "JPEGImages", ignored);
                }};
}

}  // namespace engine

#include "data/detection/detection_files.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "data/byte_reader.h"
#include "data/dataset_descriptor.h"
#include "data/detection/detection_dataset.h"
#include "data/image/picture_loader.h"
#include "data/worker_pool.h"
#include "kernels/parallel.h"
#include "tensor/philox.h"

namespace engine {
namespace {

constexpr std::int64_t max_canvas_side = 4096, max_classes = 10'000;
constexpr std::size_t max_named_pictures = 10, headers_at_once = 256;

using Pictures = std::vector<DetectionPicture>;

std::vector<std::filesystem::path> files_of(const Pictures& pictures) {
    std::vector<std::filesystem::path> out;
    for (const DetectionPicture& each : pictures) out.push_back(each.file);
    return out;
}

class DetectionFiles final : public DetectionDataset {
public:
    DetectionFiles(Pictures pictures, std::vector<std::int64_t> class_ids, DetectionForm form,
                   Schema schema, bool skips_damaged)
        : DetectionDataset(std::move(form), std::move(schema)),
          loader_(files_of(pictures)),
          skips_damaged_(skips_damaged),
          class_ids_(std::move(class_ids)) {
        for (DetectionPicture& each : pictures) {
            truths_.push_back(std::make_shared<const DetectionTruth>(std::move(each.truth)));
            orientations_.push_back(each.undone_orientation);
        }
    }

    std::int64_t size() const override { return std::ssize(truths_); }
    bool skips_damaged() const override { return skips_damaged_; }
    std::shared_ptr<const DetectionTruth> truth(std::int64_t index) const override {
        return truths_[static_cast<std::size_t>(index)];
    }
    std::vector<std::int64_t> class_ids() const override { return class_ids_; }

private:
    CanvasSize picture_size(std::int64_t index) const override {
        const DetectionTruth& truth = *truths_[static_cast<std::size_t>(index)];
        return {truth.height, truth.width};
    }
    Picture load(std::int64_t index) const override {
        const auto at = static_cast<std::size_t>(index);
        Picture picture = loader_.load(at);
        // Quarter turns undo each other, all other orientations themselves.
        const int orientation = orientations_[at];
        if (orientation == 1) return picture;
        return upright(std::move(picture),
                       orientation == 6 ? 8 : orientation == 8 ? 6 : orientation);
    }

    PictureLoader loader_;
    bool skips_damaged_;
    std::vector<std::shared_ptr<const DetectionTruth>> truths_;
    std::vector<int> orientations_;
    std::vector<std::int64_t> class_ids_;
};

/// How many of something there are, and where the first one is.
struct Counted {
    std::int64_t count = 0;
    std::string first;
    void add(const DetectionPicture& picture) {
        if (count++ == 0) first = picture.file.filename().string();
    }
};

/// Opens one data set.
class DetectionOpener {
public:
    DetectionOpener(DetectionFound found, const DatasetConfig& config, const TypedOptions& options,
                    std::int64_t seed, std::stop_token stop)
        : found_(std::move(found)),
          config_(config),
          options_(options),
          seed_(seed),
          stop_(std::move(stop)),
          form_(form_of(config, options)) {}

    DataParts open() {
        out_.warnings = std::move(found_.notes);
        choose_classes();
        const bool has_test = !found_.test.empty();
        if (found_.train.empty()) refuse(msg("{}: no pictures to train on", found_.name));
        check_headers();
        for (Pictures* part : parts()) check_objects(*part);
        report_counts();
        if (!has_test) {
            hold_out();
            found_.class_ids[2] = found_.class_ids[0];
        }
        if (!options_.flag("keep_empty"))
            std::erase_if(found_.train, [](const DetectionPicture& each) {
                return std::ranges::none_of(each.truth.annotations, &Annotation::trains);
            });
        limit(found_.train, config_.train_limit);
        limit(found_.test, config_.test_limit);
        check_classes();
        const Schema schema = common_schema();
        const std::array<DataPart*, 3> opened = {&out_.train, &out_.validation, &out_.test};
        for (std::size_t i = 0; i < opened.size(); ++i) {
            if (!parts()[i]->empty())
                *opened[i] = part(std::move(*parts()[i]), found_.class_ids[i], schema);
        }
        return std::move(out_);
    }

private:
    using Annotation = DetectionTruth::Annotation;

    std::array<Pictures*, 3> parts() { return {&found_.train, &found_.validation, &found_.test}; }

    [[noreturn]] static void refuse(Message message, Message hint = {}) {
        throw Error(ErrorCode::data, std::move(message), std::move(hint));
    }

    static DetectionForm form_of(const DatasetConfig& config, const TypedOptions& options) {
        DetectionForm form{.short_sides = options.integers("short_side"),
                           .long_side = options.integer("long_side"),
                           .flips = config.augment,
                           .color_jitter = options.number("color_jitter"),
                           .by_batch = options.word("canvas") == "batch"};
        form.by_shape = form.by_batch && options.flag("aspect_groups");
        if (form.short_sides.empty() || form.short_sides.size() > 16)
            throw Error(ErrorCode::settings, msg("dataset.short_side: use 1 to 16 numbers"));
        if (form.long_side < std::ranges::max(form.short_sides))
            throw Error(ErrorCode::settings,
                        msg("dataset.long_side: {}: use at least the largest short side",
                            form.long_side));
        return form;
    }

    /// Only the classes of dataset.classes stay, in its order.
    void choose_classes() {
        if (std::ssize(found_.classes) > max_classes)
            refuse(msg("{}: more than {} classes", found_.name, max_classes));
        const std::vector<std::string> wanted = options_.words("classes");
        if (wanted.empty()) return;
        std::vector<std::int32_t> label(found_.classes.size() + 1);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (wanted[i].empty() || std::ranges::count(wanted, wanted[i]) > 1)
                throw Error(ErrorCode::settings,
                            msg("dataset.classes: name each class once, and none without a name"));
            const auto at = std::ranges::find(found_.classes, wanted[i]);
            if (at == found_.classes.end())
                throw Error(ErrorCode::settings,
                            msg("dataset.classes: {} has no class {}", found_.name, wanted[i]));
            label[static_cast<std::size_t>(at - found_.classes.begin()) + 1] =
                static_cast<std::int32_t>(i + 1);
        }
        for (Pictures* part : parts()) {
            for (DetectionPicture& picture : *part) {
                for (Annotation& each : picture.truth.annotations)
                    each.label = label[static_cast<std::size_t>(each.label)];
                std::erase_if(picture.truth.annotations,
                              [](const Annotation& each) { return each.label == 0; });
            }
        }
        for (auto& ids : found_.class_ids) {
            if (ids.empty()) continue;
            std::vector<std::int64_t> chosen(wanted.size());
            for (std::size_t i = 0; i < ids.size(); ++i)
                if (label[i + 1] > 0) chosen[static_cast<std::size_t>(label[i + 1]) - 1] = ids[i];
            ids = std::move(chosen);
        }
        found_.classes = wanted;
    }

    /// Compares all pictures' headers with their annotations.
    void check_headers() {
        std::vector<DetectionPicture*> all;
        for (Pictures* part : parts())
            for (DetectionPicture& each : *part) all.push_back(&each);
        std::vector<std::string> wrong(all.size());
        std::vector<std::uint8_t> turned(all.size());
        WorkerPool pool(kernels::cpu::hardware_threads());
        for (std::size_t first = 0; first < all.size(); first += headers_at_once) {
            if (stop_.stop_requested()) throw ReadingStopped{};
            report_reading({static_cast<std::int64_t>(first), std::ssize(all)});
            pool.run(std::min(headers_at_once, all.size() - first),
                     [&](std::size_t item, std::size_t) {
                         try {
                             turned[first + item] = check_header(*all[first + item]);
                         } catch (const Error& error) {
                             wrong[first + item] = error.message().str();
                         }
                     });
        }
        report_reading({std::ssize(all), std::ssize(all)});
        const auto bad = std::ssize(wrong) - std::ranges::count(wrong, std::string());
        // In the order of the pictures, whichever thread read them.
        for (std::size_t i = 0; i < all.size(); ++i)
            if (turned[i] != 0) turned_.add(*all[i]);
        if (bad > 0) leave_out(wrong, static_cast<std::int64_t>(bad));
        if (turned_.count > 0)
            out_.warnings.push_back(msg(
                "{}: {} pictures are turned by EXIF, and the size does not tell whether the "
                "annotations lie on the stored pixels or on the turned ones; the turned ones are "
                "taken. The first is {}",
                found_.name, turned_.count, turned_.first));
    }

    /// Whether EXIF turns the picture and its size does not tell.
    static bool check_header(DetectionPicture& picture) {
        const PictureHeader header = read_picture_header(picture.file);
        const bool exchanged = header.orientation >= 5;
        const int width = exchanged ? header.height : header.width;
        const int height = exchanged ? header.width : header.height;
        DetectionTruth& truth = picture.truth;
        if (truth.width == 0) {
            truth.width = width;
            truth.height = height;
        }
        const bool seen = truth.width == width && truth.height == height;
        const bool stored = truth.width == header.width && truth.height == header.height;
        if (!seen && !stored)
            refuse(msg("{}: {} x {} pixels, and its annotations are for {} x {}",
                       picture.file.string(), header.width, header.height, truth.width,
                       truth.height));
        if (!seen) picture.undone_orientation = header.orientation;
        return seen && stored && header.orientation != 1;
    }

    /// `wrong`: why each picture of all parts cannot be used; empty where it can.
    void leave_out(const std::vector<std::string>& wrong, std::int64_t count) {
        std::string named;
        std::size_t names = 0;
        for (const std::string& why : wrong) {
            if (why.empty() || ++names > max_named_pictures) continue;
            named += (named.empty() ? "" : "; ") + why;
        }
        if (names > max_named_pictures) named += "; ...";
        if (options_.word("unreadable") != "skip")
            refuse(msg("{}: {} of {} pictures cannot be read: {}", found_.name, count, wrong.size(),
                       named),
                   msg("Remove them, or set dataset.unreadable to skip."));
        out_.warnings.push_back(msg("{}: {} of {} pictures cannot be read and are left out: {}",
                                    found_.name, count, wrong.size(), named));
        std::size_t at = 0;
        for (Pictures* part : parts())
            std::erase_if(*part, [&](const DetectionPicture&) { return !wrong[at++].empty(); });
    }

    /// Leaves out boxes without an area in the picture.
    void check_objects(Pictures& part) {
        for (DetectionPicture& picture : part) {
            DetectionTruth& truth = picture.truth;
            if (std::ssize(truth.annotations) > DetectionTruth::max_objects)
                refuse(msg("{}: more than {} objects in one picture", picture.file.string(),
                           DetectionTruth::max_objects));
            std::erase_if(truth.annotations, [&](const Annotation& each) {
                if (lies_in_picture(each.box, truth.height, truth.width)) return false;
                no_area_.add(picture);
                return true;
            });
            for (Annotation& each : truth.annotations) {
                if (reaches_out(each.box, truth)) clipped_.add(picture);
                const bool has_mask = !std::holds_alternative<std::monostate>(each.mask);
                if (each.trains()) (has_mask ? masked_ : maskless_).add(picture);
                if (std::isnan(each.area))
                    each.area = measured_area(each, truth.height, truth.width);
            }
        }
    }

    static bool reaches_out(const std::array<double, 4>& box, const DetectionTruth& truth) {
        const auto& [x, y, w, h] = box;
        return x < -1 || y < -1 || x + w > truth.width + 1 || y + h > truth.height + 1;
    }

    void report_counts() {
        if (no_area_.count > 0)
            out_.warnings.push_back(
                msg("{}: {} boxes without an area in their picture are left out. The first is in "
                    "{}",
                    found_.name, no_area_.count, no_area_.first));
        if (clipped_.count > 0)
            out_.warnings.push_back(
                msg("{}: {} boxes reach more than a pixel out of their picture. They are cut for "
                    "training; metrics take them as they are. The first is in {}",
                    found_.name, clipped_.count, clipped_.first));
        if (masked_.count > 0 && maskless_.count > 0)
            out_.warnings.push_back(
                msg("{}: {} of {} objects have no mask. The first is in {}", found_.name,
                    maskless_.count, maskless_.count + masked_.count, maskless_.first));
    }

    /// Fisher-Yates by the words of RandomStream(seed, StreamId::split, 2). A picture with the last
    /// object of a class to learn is passed over.
    void hold_out() {
        const double share = options_.number("test_share");
        Pictures& all = found_.train;
        auto count =
            static_cast<std::size_t>(std::llround(share * static_cast<double>(all.size())));
        if (count == all.size()) count = 0;
        std::vector<bool> chosen(all.size());
        const std::size_t held = choose_held_out(count, chosen);
        if (share > 0 && held < std::max<std::size_t>(count, 1))
            out_.warnings.push_back(msg(
                "{}: {} of {} pictures are held out as the test part, fewer than "
                "dataset.test_share: {} asks for: they are too few, or the only ones of a class",
                found_.name, held, all.size(), share));
        Pictures kept;
        for (std::size_t i = 0; i < all.size(); ++i)
            (chosen[i] ? found_.test : kept).push_back(std::move(all[i]));
        all = std::move(kept);
    }

    /// Marks up to `count` pictures and returns how many.
    std::size_t choose_held_out(std::size_t count, std::vector<bool>& chosen) const {
        const Pictures& all = found_.train;
        std::vector<std::int64_t> left(found_.classes.size() + 1);
        for (const DetectionPicture& each : all)
            for (const std::int32_t label : labels_in({&each, 1}))
                ++left[static_cast<std::size_t>(label)];
        std::vector<std::size_t> order(all.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        const RandomStream random(seed_, StreamId::split, 2);
        for (std::size_t rest = order.size(); rest > 1; --rest)
            std::swap(order[rest - 1],
                      order[random.bounded(rest, static_cast<std::uint32_t>(rest))]);
        std::size_t held = 0;
        for (std::size_t i = 0; i < order.size() && held < count; ++i) {
            const std::set<std::int32_t> labels = labels_in({&all[order[i]], 1});
            if (std::ranges::any_of(labels, [&](std::int32_t label) {
                    return left[static_cast<std::size_t>(label)] == 1;
                }))
                continue;
            for (const std::int32_t label : labels) --left[static_cast<std::size_t>(label)];
            chosen[order[i]] = true;
            ++held;
        }
        return held;
    }

    static void limit(Pictures& pictures, std::int64_t most) {
        if (most > 0 && std::ssize(pictures) > most)
            pictures.resize(static_cast<std::size_t>(most));
    }

    static std::set<std::int32_t> labels_in(std::span<const DetectionPicture> pictures) {
        std::set<std::int32_t> out;
        for (const DetectionPicture& each : pictures)
            for (const Annotation& object : each.truth.annotations)
                if (object.trains()) out.insert(object.label);
        return out;
    }
    std::string class_name(std::int32_t label) const {
        return found_.classes[static_cast<std::size_t>(label) - 1];
    }

    void check_classes() {
        const std::set<std::int32_t> learnt = labels_in(found_.train);
        if (learnt.empty()) refuse(msg("{}: the training part has no objects", found_.name));
        for (Pictures* part : {&found_.validation, &found_.test}) {
            const std::set<std::int32_t> tested = labels_in(*part);
            if (!part->empty() && tested.empty())
                refuse(msg("{}: a part to test on has no objects", found_.name));
            for (const std::int32_t label : tested)
                if (!learnt.contains(label) && config_.train_limit == 0)
                    refuse(msg("{}: no object of the class {} is in the training part",
                               found_.name, class_name(label)));
            std::string untested;
            for (const std::int32_t label : learnt)
                if (!tested.contains(label))
                    untested += (untested.empty() ? "" : ", ") + class_name(label);
            if (!part->empty() && !untested.empty() && config_.test_limit == 0)
                out_.warnings.push_back(msg("{}: no object of these classes is tested: {}",
                                            found_.name, untested));
        }
    }

    /// Its sizes hold the pictures of all parts.
    Schema common_schema() {
        const std::int64_t largest = std::ranges::max(form_.short_sides);
        CanvasSize canvas;
        DetectionCapacity capacity;
        bool wide = false, high = false;
        for (Pictures* part : parts()) {
            for (const DetectionPicture& each : *part) {
                const CanvasSize picture{each.truth.height, each.truth.width};
                const CanvasSize size = resized_size(picture, largest, form_.long_side);
                canvas = {std::max(canvas.height, size.height), std::max(canvas.width, size.width)};
                wide = wide || picture.width > picture.height;
                high = high || picture.height > picture.width;
                capacity.widen(capacity_of(each.truth, size));
            }
        }
        if (!form_.by_batch)
            canvas = {high || !wide ? form_.long_side : largest,
                      wide || !high ? form_.long_side : largest};
        canvas = padded_size(canvas);
        if (std::max(canvas.height, canvas.width) > max_canvas_side)
            throw Error(ErrorCode::settings,
                        msg("dataset.long_side: {}: images would be {} x {} pixels, more than {} a "
                            "side",
                            form_.long_side, canvas.width, canvas.height, max_canvas_side));
        Schema schema = detection_schema(found_.classes, canvas, capacity, form_.by_batch);
        schema.fields[detection_field::bits].problem = mask_problem();
        return schema;
    }

    /// A few broken masks are a slip in the file, many a fault in whatever wrote it.
    Message mask_problem() const {
        constexpr double most_without = 0.01;
        const std::int64_t all = masked_.count + maskless_.count;
        if (!found_.whole_masks || masked_.count == 0 ||
            static_cast<double>(maskless_.count) <= most_without * static_cast<double>(all))
            return {};
        return msg("{}: {} of {} objects have no valid mask, more than 1 %. The first is in {}. Mend "
                   "them, or set model.options.masks to false",
                   found_.name, maskless_.count, all, maskless_.first);
    }

    DataPart part(Pictures pictures, std::vector<std::int64_t> class_ids,
                  const Schema& schema) const {
        return {std::make_shared<DetectionFiles>(std::move(pictures), std::move(class_ids), form_,
                                                 schema,
                                                 options_.word("damaged") == "skip")};
    }

    DetectionFound found_;
    const DatasetConfig& config_;
    const TypedOptions& options_;
    std::int64_t seed_;
    std::stop_token stop_;
    DetectionForm form_;
    DataParts out_;
    Counted turned_, no_area_, clipped_, masked_, maskless_;
};

}  // namespace

std::filesystem::path detection_path(const DatasetConfig& config, const std::string& kind) {
    if (config.path.empty())
        throw Error(ErrorCode::data, msg("{}: no path is given", kind),
                    msg("Set dataset.path to its folder or file."));
    if (config.path.size() > 1)
        throw Error(ErrorCode::data,
                    msg("{}: give one folder or one file, not {}", kind, config.path.size()));
    return config.path.front();
}

std::filesystem::path file_within(const std::filesystem::path& folder, const std::string& name,
                                  const std::filesystem::path& source) {
    namespace fs = std::filesystem;
    const fs::path path(name), file = folder / path;
    if (path.is_absolute() || name.find('\0') != name.npos ||
        std::find(path.begin(), path.end(), "..") != path.end())
        throw Error(ErrorCode::data,
                    msg("{}: the name {} leads out of the folder", source.string(), name));
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return file;
    const fs::path inside =
        fs::canonical(file, ignored).lexically_relative(fs::canonical(folder, ignored));
    if (inside.empty() || *inside.begin() == "..")
        throw Error(ErrorCode::data,
                    msg("{}: {} is a link that leads out of its folder", source.string(), name));
    return file;
}

DataParts open_detection(DetectionFound found, const DatasetConfig& config,
                         const TypedOptions& options, std::int64_t seed,
                         const std::stop_token& stop) {
    check_detection_settings(config);
    return DetectionOpener(std::move(found), config, options, seed, stop).open();
}

}  // namespace engine

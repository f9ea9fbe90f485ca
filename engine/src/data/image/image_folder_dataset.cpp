#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/dataset_descriptor.h"
#include "data/image/image_folder_files.h"
#include "data/image/image_transforms.h"
#include "data/image/picture_loader.h"
#include "data/input_guide.h"
#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "io/picture/readers.h"
#include "kernels/device.h"
#include "kernels/jpeg_decoder.h"

namespace engine {
namespace {

/// The user's own pictures, decoded each time that one is read: the files must stay where they are.
/// read() scales a picture's shorter side to 8/7 of the image size (256 for 224) and takes the
/// square in its middle; read_augmented() takes a random box, scales it to the image size and
/// mirrors half of the pictures. Normalised by ImageNet's statistics, as torchvision's models are.
class ImageFolderDataset final : public Dataset {
public:
    /// `skips_damaged`: Dataset::skips_damaged(). `decoder`: load_picture_by().
    ImageFolderDataset(std::vector<PictureFile> files, std::vector<std::string> classes,
                       std::int64_t size, bool skips_damaged = false, PixelDecoder decoder = {});

    std::int64_t size() const override { return std::ssize(files_); }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override;
    void read_augmented(std::int64_t index, const SampleFields& out,
                        const SamplePlace& place) const override;
    bool decodes() const override { return true; }
    bool gives_bytes() const override { return true; }
    bool skips_damaged() const override { return skips_damaged_; }
    void guide(InputGuide& guide) const override;

private:
    Picture load(std::int64_t index) const {
        return loader_.load(static_cast<std::size_t>(index));
    }
    void write_label(std::int64_t index, const SampleFields& out) const;

    std::vector<PictureFile> files_;
    Schema schema_;
    int size_;
    bool skips_damaged_;
    PictureLoader loader_;
};

constexpr std::size_t max_listed = 10;

/// torchvision's 256 for 224.
int short_side_of(int size) { return static_cast<int>(std::int64_t{size} * 256 / 224); }

Schema picture_schema(std::int64_t size, std::vector<std::string> classes) {
    Schema schema = classified_images(
        {3, size, size}, {{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}}, std::move(classes));
    schema.fields.front().own_crop = true;
    return schema;
}

std::vector<OptionSpec> folder_options() {
    std::vector<OptionSpec> options{
        option("image_size", "Image size", std::int64_t{224},
               "Width and height of the images that the model gets. Without augmentation the "
               "shorter side is scaled to 8/7 of it, and the middle is taken.",
               opt::unit("pixels"), opt::between(8, 2048), opt::prominent),
        option("test_share", "Test share", 0.2,
               "Fraction of the pictures of each class held out as the test set, drawn by the "
               "seed, where the folder has no test part of its own.",
               opt::from_to_below(0, 1)),
        option("unreadable", "Unreadable pictures", std::string("refuse"),
               "What to do about pictures that cannot be read when the data set is opened.",
               opt::one_of(
                   {{"refuse", "Report an error"},
                    {"skip", "Skip",
                     "Every picture is decoded once when the data set is opened, and those that "
                     "cannot be read are left out with a warning."}})),
        option("damaged", "Damaged pictures", std::string("skip"),
               "What to do about pictures whose damage only decoding shows, during the run.",
               opt::one_of(
                   {{"skip", "Skip",
                     "The next picture of the order takes the place, and the run counts them. An "
                     "evaluation leaves them out."},
                    {"stop", "Stop the run"}})),
        option("decoder", "JPEG decoder", std::string("exact"),
               "The library that decodes JPEG pictures.",
               opt::one_of(
                   {{"exact", "libjpeg on the CPU", "The same pixels on every machine."},
                    {"nvjpeg", "nvJPEG on the GPU",
                     "Faster where the CPU cannot keep up with the GPU. Some pixels differ by a "
                     "few levels, and the CUDA toolkit's nvJPEG must be installed."}}))};
    for (OptionSpec& each : image_options(3)) options.push_back(std::move(each));
    return options;
}

/// Makes a decoder on the GPU that the loader's threads compute on. Throws Error(device) if it
/// cannot be used.
PixelDecoder nvjpeg_decoder() {
    const Message hint = msg("Set dataset.decoder to exact.");
    if (kernels::cuda::device_count() == 0)
        throw Error(
            ErrorCode::device,
            msg("dataset.decoder is nvjpeg, which needs a GPU: {}.", kernels::cuda::why_absent()),
            hint);
    const auto library = kernels::cuda::jpeg_library();
    if (!library.found)
        throw Error(ErrorCode::device,
                    msg("dataset.decoder is nvjpeg, but nvJPEG of the CUDA toolkit is missing: {}.",
                        library.problem),
                    hint);
    return [](std::span<const std::uint8_t> jpeg) -> std::optional<Picture> {
        auto decoded = kernels::cuda::decode_jpeg(jpeg);
        if (!decoded) return std::nullopt;
        return Picture{decoded->width, decoded->height, std::move(decoded->rgb)};
    };
}

/// The first ten, one after another.
std::string listed(const std::vector<BadPicture>& bad) {
    std::string out;
    for (std::size_t i = 0; i < std::min(bad.size(), max_listed); ++i)
        out += (i == 0 ? "" : "; ") + bad[i].why.str();
    if (bad.size() > max_listed) out += "; ...";
    return out;
}

/// Opens one folder.
class Opener {
public:
    Opener(const DatasetConfig& config, std::int64_t seed, const std::stop_token& stop)
        : config_(config),
          options_(config.options, dataset_descriptor(config.kind).options),
          seed_(seed),
          stop_(stop) {}

    DataParts open() {
        if (options_.word("decoder") == "nvjpeg") decoder_ = nvjpeg_decoder();
        if (config_.path.empty()) refuse_paths(msg("{}: no path is given", "image-folder"));
        if (config_.path.size() > 1)
            refuse_paths(msg("{}: give one folder, not {}", "image-folder", config_.path.size()));
        ImageFolder found = list_image_folder(config_.path.front(), stop_);
        parts_.warnings = std::move(found.notes);
        if (!found.has_test) hold_out(found);
        warn_of_left_out(found);
        limit_in_turn(found.train, config_.train_limit);
        limit_in_turn(found.test, config_.test_limit);
        check(found);
        parts_.train = part(std::move(found.train), found);
        if (!found.test.empty()) parts_.test = part(std::move(found.test), found);
        if (!found.validation.empty()) parts_.validation = part(std::move(found.validation), found);
        return std::move(parts_);
    }

private:
    [[noreturn]] static void refuse_paths(Message message) {
        throw Error(ErrorCode::data, std::move(message),
                    msg("Set dataset.path to a folder with a folder of pictures for each class."));
    }

    /// Splits off the test part. Without one nothing measures the model, and a warning says so.
    void hold_out(ImageFolder& found) {
        const double share = options_.number("test_share");
        found.test = split_test(found.train, share, seed_);
        if (share == 0) return;
        std::vector<bool> tested(found.classes.size());
        for (const PictureFile& file : found.test)
            tested[static_cast<std::size_t>(file.label)] = true;
        const auto without = std::ranges::count(tested, false);
        if (without == std::ssize(tested)) {
            parts_.warnings.push_back(
                msg("{}: too few pictures for a test part: a share of {} of each class is less "
                    "than one picture, so the run has no test part",
                    config_.path.front(), share));
        } else if (without > 0) {
            parts_.warnings.push_back(
                msg("{}: too few pictures for a test part of {} of the {} classes, such as {}",
                    config_.path.front(), without, tested.size(),
                    found.classes[static_cast<std::size_t>(std::ranges::find(tested, false) -
                                                           tested.begin())]));
        }
    }

    void warn_of_left_out(const ImageFolder& found) {
        std::string kinds;
        std::int64_t count = 0;
        for (const auto& [kind, files] : found.left_out) {
            kinds += (kinds.empty() ? "" : ", ") + kind + " " + std::to_string(files);
            count += files;
        }
        if (count == 0) return;
        parts_.warnings.push_back(
            msg("{}: {} files are left out, since only JPEG and PNG pictures in the folders of the "
                "classes are read: {}",
                config_.path.front(), count, kinds));
    }

    /// All parts at once, so that the error lists what is wrong in any of them.
    void check(ImageFolder& found) {
        std::vector<std::vector<PictureFile>*> lists{&found.train, &found.validation, &found.test};
        std::vector<PictureFile> all;
        for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
        const bool skip = options_.word("unreadable") == "skip";
        const auto bad = check_pictures(all, {.decode = skip, .stop = stop_});
        if (bad.empty()) return;
        if (!skip) {
            throw Error(ErrorCode::data,
                        msg("{}: {} of {} pictures cannot be read: {}", config_.path.front(),
                            bad.size(), all.size(), listed(bad)),
                        msg("Remove them, or set dataset.unreadable to skip."));
        }
        parts_.warnings.push_back(msg("{}: {} of {} pictures cannot be read and are left out: {}",
                                      config_.path.front(), bad.size(), all.size(), listed(bad)));
        leave_out(lists, bad);
        check_classes_remain(found);
    }

    static void leave_out(const std::vector<std::vector<PictureFile>*>& lists,
                          const std::vector<BadPicture>& bad) {
        std::size_t first = 0;
        auto next = bad.begin();
        for (auto* list : lists) {
            std::vector<PictureFile> kept;
            for (std::size_t i = 0; i < list->size(); ++i) {
                if (next != bad.end() && next->index == first + i)
                    ++next;
                else
                    kept.push_back(std::move((*list)[i]));
            }
            first += list->size();
            *list = std::move(kept);
        }
    }

    void check_classes_remain(const ImageFolder& found) const {
        for (std::size_t label = 0; label < found.classes.size(); ++label) {
            const bool there = std::ranges::any_of(found.train, [&](const PictureFile& file) {
                return file.label == static_cast<std::int64_t>(label);
            });
            if (there || config_.train_limit > 0) continue;
            throw Error(ErrorCode::data,
                        msg("{}: no picture of the class {} can be read", config_.path.front(),
                            found.classes[label]),
                        msg("Put JPEG or PNG pictures there, or remove the folder."));
        }
    }

    DataPart part(std::vector<PictureFile> files, const ImageFolder& found) {
        return {std::make_shared<ImageFolderDataset>(std::move(files), found.classes,
                                                     options_.integer("image_size"),
                                                     options_.word("damaged") == "skip", decoder_)};
    }

    const DatasetConfig& config_;
    TypedOptions options_;
    std::int64_t seed_;
    std::stop_token stop_;
    PixelDecoder decoder_;  // empty: ours
    DataParts parts_;
};

std::vector<std::filesystem::path> paths_of(const std::vector<PictureFile>& files) {
    std::vector<std::filesystem::path> out;
    for (const PictureFile& file : files) out.push_back(file.path);
    return out;
}

ImageFolderDataset::ImageFolderDataset(std::vector<PictureFile> files,
                                       std::vector<std::string> classes, std::int64_t size,
                                       bool skips_damaged, PixelDecoder decoder)
    : files_(std::move(files)),
      schema_(picture_schema(size, std::move(classes))),
      size_(static_cast<int>(size)),
      skips_damaged_(skips_damaged),
      loader_(paths_of(files_), std::move(decoder)) {}

void ImageFolderDataset::write_label(std::int64_t index, const SampleFields& out) const {
    if (const auto label = out.i64(1); !label.empty())
        label[0] = files_[static_cast<std::size_t>(index)].label;
}

void ImageFolderDataset::read(std::int64_t index, const SampleFields& out) const {
    write_label(index, out);
    if (!out.bytes(0).empty())
        out.set_image(0, centre_square(load(index), short_side_of(size_), size_).rgb);
}

void ImageFolderDataset::read_augmented(std::int64_t index, const SampleFields& out,
                                        const SamplePlace& place) const {
    write_label(index, out);
    if (out.bytes(0).empty()) return;
    const Picture whole = load(index);
    Picture picture = resized(whole, random_box(whole.width, whole.height, place), size_, size_);
    if (is_flipped(place)) mirror(picture);
    out.set_image(0, picture.rgb);
}

void ImageFolderDataset::guide(InputGuide& guide) const {
    guide.short_side = short_side_of(size_);
    guide.alpha = Alpha::dropped;
}

/// Lists and looks at the pictures. Throws Error(data), and ReadingStopped.
DataParts open_image_folder(const DatasetConfig& config, std::int64_t seed,
                            const std::stop_token& stop) {
    return Opener(config, seed, stop).open();
}

}  // namespace

DatasetDescriptor image_folder_descriptor() {
    return {.kind = "image-folder",
            .title = "Image folder",
            .summary = "Your own pictures: a folder for each class.",
            .needs =
                "A folder with a folder of JPEG or PNG pictures for each class, or with train "
                "and val or test folders of such folders.",
            .unit = "images",
            .augments = true,
            .options = folder_options(),
            .schema =
                [](const DatasetConfig& config) {
                    const std::vector<OptionSpec> specs = folder_options();
                    const TypedOptions options(config.options, specs);
                    return picture_schema(options.integer("image_size"), {"class 1", "class 2"});
                },
            .files_decide = true,
            .open = open_image_folder,
            .recognise = looks_like_image_folder};
}

}  // namespace engine
